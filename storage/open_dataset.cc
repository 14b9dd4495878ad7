#include "storage/open_dataset.h"

#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "storage/file_status.h"

namespace millrace::storage {
namespace {

// A kind of data set that OpenDataset() knows.
struct Kind {
  absl::string_view scheme;
  // What lies at the path, for messages.
  absl::string_view what;
  // Whether a plain path is of this kind; `info` is the path's own.
  bool (*recognise)(const std::string& path, const struct stat& info);
  absl::StatusOr<std::unique_ptr<Dataset>> (*open)(
      const std::string& path, const OpenDatasetOptions& options);
};

// Asked from the first to the last: what is recognised by more stands before
// what is recognised by less.
constexpr Kind kKinds[] = {
    {"folder", "a folder with one subfolder a class",
     [](const std::string&, const struct stat& info) {
       return S_ISDIR(info.st_mode);
     },
     [](const std::string& path, const OpenDatasetOptions& options)
         -> absl::StatusOr<std::unique_ptr<Dataset>> {
       return ImageFolder::Open(path, options.folder);
     }},
};

std::string Accepted() {
  return absl::StrJoin(kKinds, ", ", [](std::string* out, const Kind& kind) {
    absl::StrAppend(out, kind.scheme, ":PATH (", kind.what, ")");
  });
}

absl::Status Refused(absl::string_view uri, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("data set \"", EscapeForMessage(uri), "\": ", problem,
                   "; accepted: a path, or ", Accepted()));
}

// What stands before the first colon, if it looks like a scheme; else empty.
absl::string_view SchemeOf(absl::string_view uri) {
  const size_t colon = uri.find(':');
  if (colon == absl::string_view::npos) return {};
  const absl::string_view scheme = uri.substr(0, colon);
  const bool plain = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) ||
           absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  return plain ? scheme : absl::string_view();
}

absl::string_view TypeName(const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return "a directory";
  if (S_ISREG(info.st_mode)) return "a file";
  return "a pipe, socket or device";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dataset>> OpenDataset(
    absl::string_view uri, const OpenDatasetOptions& options) {
  if (uri.empty()) return Refused(uri, "no path");
  if (const absl::string_view scheme = SchemeOf(uri); !scheme.empty()) {
    const std::string path(uri.substr(scheme.size() + 1));
    for (const Kind& kind : kKinds) {
      if (kind.scheme != scheme) continue;
      if (path.empty()) return Refused(uri, "no path");
      return kind.open(path, options);
    }
    return Refused(uri, absl::StrCat("unknown scheme \"", scheme,
                                     "\" (a path that looks like one: ./",
                                     EscapeForMessage(uri), ")"));
  }
  const std::string path(uri);
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return Annotate(FileStatus(errno, "open", path), "data set");
  }
  for (const Kind& kind : kKinds) {
    if (kind.recognise(path, info)) return kind.open(path, options);
  }
  return Refused(uri, absl::StrCat("is ", TypeName(info)));
}

}  // namespace millrace::storage
