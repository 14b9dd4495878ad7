#include "tools/training/torch_status.h"

#include <exception>
#include <new>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "c10/util/Exception.h"

namespace millrace::tools::training {
namespace {

absl::Status ToStatus(absl::string_view what, absl::string_view message) {
  // Torch's text comes in several lines.
  const std::string line = absl::StrCat(
      what, ": ",
      absl::StrReplaceAll(absl::StripSuffix(message, "\n"), {{"\n", "; "}}));
  // CPU and CUDA allocators word it so; neither has a type for it that all
  // versions of torch share.
  if (absl::StrContains(message, "not enough memory") ||
      absl::StrContains(message, "can't allocate memory") ||
      absl::StrContains(message, "out of memory")) {
    return absl::ResourceExhaustedError(line);
  }
  return absl::InternalError(line);
}

}  // namespace

absl::Status CatchTorch(absl::string_view what,
                        const std::function<absl::Status()>& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    return ToStatus(what, error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(what, ": out of memory"));
  } catch (const std::exception& error) {
    return ToStatus(what, error.what());
  }
}

}  // namespace millrace::tools::training
