#include "tools/training/resume.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::tools::training {
namespace {

// The bytes of the checkpoint on rank 0; empty if there is none.
absl::StatusOr<std::string> LoadOnRankZero(
    const TrainOptions& options, const CheckpointDirectory* directory) {
  if (options.resume == "auto") {
    MILLRACE_ASSIGN_OR_RETURN(std::optional<CheckpointDirectory::Loaded> loaded,
                              directory->LoadNewest());
    if (!loaded.has_value()) {
      MILLRACE_LOG(kInfo) << "no checkpoint in "
                          << EscapeForMessage(directory->path())
                          << ": beginning anew";
      return std::string();
    }
    MILLRACE_LOG(kInfo) << "going on from " << EscapeForMessage(loaded->path);
    return std::move(loaded->bytes);
  }
  if (options.resume != "none") {
    MILLRACE_ASSIGN_OR_RETURN(CheckpointDirectory::Loaded loaded,
                              LoadCheckpoint(options.resume));
    MILLRACE_LOG(kInfo) << "going on from " << EscapeForMessage(loaded.path);
    return std::move(loaded.bytes);
  }
  if (directory != nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::string> older,
                              directory->List());
    if (!older.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "checkpoints of an earlier run are in the way, the newest ",
          EscapeForMessage(older.front()),
          ": --resume=auto goes on from it; else give another "
          "--checkpoint_dir"));
    }
  }
  return std::string();
}

const std::string* Find(const Settings& settings, absl::string_view name) {
  for (const auto& [known, value] : settings) {
    if (known == name) return &value;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::optional<Checkpoint>> FindCheckpoint(
    const TrainOptions& options, const CheckpointDirectory* directory,
    distributed::Communicator* communicator) {
  std::string bytes;
  if (communicator->rank() == 0) {
    MILLRACE_ASSIGN_OR_RETURN(bytes, LoadOnRankZero(options, directory));
  }
  MILLRACE_ASSIGN_OR_RETURN(
      bytes, communicator->Broadcast(bytes, /*root=*/0, options.timeout));
  if (bytes.empty()) return std::nullopt;
  MILLRACE_ASSIGN_OR_RETURN(Checkpoint checkpoint, ParseCheckpoint(bytes));
  return checkpoint;
}

Settings ArchitectureOf(const TrainOptions& options, int64_t classes) {
  Settings settings = options.Architecture();
  settings.emplace_back("classes", absl::StrCat(classes));
  return settings;
}

absl::Status CheckResumable(const Checkpoint& checkpoint,
                            const TrainOptions& options, int64_t classes,
                            bool warn) {
  for (const auto& [name, value] : ArchitectureOf(options, classes)) {
    const std::string* const saved = Find(checkpoint.architecture, name);
    if (saved != nullptr && *saved == value) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "the checkpoint is of another model: its ", name, " is ",
        saved == nullptr ? "unknown" : *saved, ", this run's ", value));
  }
  for (const auto& [name, value] : options.Course()) {
    const std::string* const saved = Find(checkpoint.course, name);
    if (!warn || (saved != nullptr && *saved == value)) continue;
    MILLRACE_LOG(kWarning) << "--" << name << "=" << value
                           << " is new, the checkpoint's run had "
                           << (saved == nullptr ? "none" : *saved)
                           << ": the result differs from an unbroken run's";
  }
  return absl::OkStatus();
}

}  // namespace millrace::tools::training
