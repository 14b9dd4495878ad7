#ifndef MILLRACE_TOOLS_TRAINING_CHECKPOINT_DIRECTORY_H_
#define MILLRACE_TOOLS_TRAINING_CHECKPOINT_DIRECTORY_H_

// The checkpoints of one run, in a folder:
//
//   step-000000000026.ckpt      after 26 updates
//   step-000000000052.ckpt      the newest: names sort by age
//   step-000000000078.ckpt.tmp  left by a run that was killed while writing

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/training/checkpoint.h"

namespace millrace::tools::training {

// Thread-compatible. One process at a time may save to a folder.
class CheckpointDirectory {
 public:
  // Makes the folder, with those above it, if it is not there. `keep` > 0:
  // checkpoints that Save() leaves. Errors as ErrnoStatus(), with exit code
  // kStorage.
  static absl::StatusOr<CheckpointDirectory> Open(std::string path, int keep);

  // Paths of the checkpoint files, the newest first, unfinished ones left out;
  // whether they are whole is not looked at. Errors as Open().
  absl::StatusOr<std::vector<std::string>> List() const;

  // A checkpoint, and the bytes of its file.
  struct Loaded {
    std::string path;
    std::string bytes;
    Checkpoint checkpoint;
  };

  // The newest checkpoint that is whole; nullopt if there is none. Unfinished,
  // damaged and unreadable files on the way to it are each named in a warning.
  absl::StatusOr<std::optional<Loaded>> LoadNewest() const;

  // Writes the checkpoint after `global_step` updates (>= 0), then removes all
  // but the newest `keep` and what older runs left unfinished. Returns its
  // path. Errors as WriteFileDurably().
  absl::StatusOr<std::string> Save(int64_t global_step,
                                   const Checkpoint& checkpoint);

  const std::string& path() const { return path_; }

 private:
  CheckpointDirectory(std::string path, int keep)
      : path_(std::move(path)), keep_(keep) {}

  // Names that start with "step-" and end with `suffix`, descending.
  absl::StatusOr<std::vector<std::string>> Names(
      absl::string_view suffix) const;
  std::string Join(absl::string_view name) const;

  std::string path_;
  int keep_;
};

// The checkpoint in the file `path`. NotFound and the like, as ErrnoStatus();
// DataLoss naming the file where it is damaged, with exit code kStorage.
absl::StatusOr<CheckpointDirectory::Loaded> LoadCheckpoint(
    const std::string& path);

}  // namespace millrace::tools::training

#endif  // MILLRACE_TOOLS_TRAINING_CHECKPOINT_DIRECTORY_H_
