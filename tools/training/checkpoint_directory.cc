#include "tools/training/checkpoint_directory.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "tools/training/durable_file.h"

namespace millrace::tools::training {
namespace {

constexpr absl::string_view kPrefix = "step-";
constexpr absl::string_view kSuffix = ".ckpt";

absl::Status FolderError(const std::error_code& error, absl::string_view action,
                         const std::string& path) {
  return WithExitCode(
      ErrnoStatus(error.value(),
                  absl::StrCat(action, " ", EscapeForMessage(path))),
      ExitCode::kStorage);
}

// A file that can't be removed costs space, not correctness.
void RemoveOrWarn(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) {
    MILLRACE_LOG(kWarning) << "can't remove " << EscapeForMessage(path) << ": "
                           << error.message();
  }
}

}  // namespace

absl::StatusOr<CheckpointDirectory> CheckpointDirectory::Open(std::string path,
                                                              int keep) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return FolderError(error, "create folder", path);
  return CheckpointDirectory(std::move(path), keep);
}

std::string CheckpointDirectory::Join(absl::string_view name) const {
  return absl::StrCat(path_, absl::EndsWith(path_, "/") ? "" : "/", name);
}

absl::StatusOr<std::vector<std::string>> CheckpointDirectory::Names(
    absl::string_view suffix) const {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(path_, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::string name = entry->path().filename().string();
    if (absl::StartsWith(name, kPrefix) && absl::EndsWith(name, suffix)) {
      names.push_back(std::move(name));
    }
    entry.increment(error);
  }
  if (error) return FolderError(error, "list", path_);
  std::sort(names.begin(), names.end(), std::greater<>());
  return names;
}

absl::StatusOr<std::vector<std::string>> CheckpointDirectory::List() const {
  MILLRACE_ASSIGN_OR_RETURN(std::vector<std::string> names, Names(kSuffix));
  for (std::string& name : names) name = Join(name);
  return names;
}

absl::StatusOr<std::optional<CheckpointDirectory::Loaded>>
CheckpointDirectory::LoadNewest() const {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> unfinished,
                            Names(absl::StrCat(kSuffix, kUnfinishedSuffix)));
  for (const std::string& name : unfinished) {
    MILLRACE_LOG(kWarning) << "skipped checkpoint "
                           << EscapeForMessage(Join(name))
                           << ": writing it was never finished";
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> paths, List());
  for (const std::string& path : paths) {
    absl::StatusOr<Loaded> loaded = LoadCheckpoint(path);
    if (loaded.ok()) return std::move(*loaded);
    MILLRACE_LOG(kWarning) << "skipped checkpoint: "
                           << loaded.status().message();
  }
  return std::nullopt;
}

absl::StatusOr<std::string> CheckpointDirectory::Save(
    int64_t global_step, const Checkpoint& checkpoint) {
  const std::string path =
      Join(absl::StrFormat("%s%012d%s", kPrefix, global_step, kSuffix));
  MILLRACE_RETURN_IF_ERROR(
      WriteFileDurably(path, SerializeCheckpoint(checkpoint)));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> paths, List());
  for (size_t i = static_cast<size_t>(keep_); i < paths.size(); ++i) {
    RemoveOrWarn(paths[i]);
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> unfinished,
                            Names(absl::StrCat(kSuffix, kUnfinishedSuffix)));
  for (const std::string& name : unfinished) RemoveOrWarn(Join(name));
  return path;
}

absl::StatusOr<CheckpointDirectory::Loaded> LoadCheckpoint(
    const std::string& path) {
  CheckpointDirectory::Loaded loaded;
  loaded.path = path;
  MILLRACE_ASSIGN_OR_RETURN(loaded.bytes, ReadWholeFile(path));
  absl::StatusOr<Checkpoint> checkpoint = ParseCheckpoint(loaded.bytes);
  if (!checkpoint.ok()) {
    return WithExitCode(
        Annotate(checkpoint.status(),
                 absl::StrCat("checkpoint ", EscapeForMessage(path))),
        ExitCode::kStorage);
  }
  loaded.checkpoint = *std::move(checkpoint);
  return loaded;
}

}  // namespace millrace::tools::training
