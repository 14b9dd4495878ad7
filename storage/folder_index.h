#ifndef MILLRACE_STORAGE_FOLDER_INDEX_H_
#define MILLRACE_STORAGE_FOLDER_INDEX_H_

// The samples of a folder in one block of bytes, which is also what ranks hand
// to each other. Numbers are 64 bits, little endian:
//
//   "MRFOLDR1"
//   low and high half of XXH3-128 of all bytes after these
//   low and high half of the data set's fingerprint
//   S samples, D directories, C classes, E examples of ignored files,
//   M directories without images, number of ignored files
//   S + D + C + E + M + 1 offsets: string k is text[offset[k], offset[k + 1])
//   D pairs: first sample of the directory, label
//   text: names of samples, paths of directories, names of classes, examples,
//         names of directories without images, one after the other
//
// A sample so takes 8 bytes and those of its name; its directory is found by
// bisection, since samples of one directory follow each other.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/hash.h"
#include "storage/folder_lister.h"

namespace millrace::storage {

// Thread-compatible: immutable but for moving.
class FolderIndex {
 public:
  // One sample. Views live as long as the index.
  struct Entry {
    // Below the root: "cat/more".
    absl::string_view directory;
    absl::string_view name;
    int64_t label = 0;
  };

  // Lays out `listing`, which has at least one image; `empty_directories` are
  // kept for messages. Needs the memory of both listing and index at its peak.
  static FolderIndex Build(const FolderListing& listing,
                           const std::vector<std::string>& empty_directories);

  // Takes `bytes` as they came from bytes(). DataLoss, saying what is wrong,
  // where they are not a whole and consistent index.
  static absl::StatusOr<FolderIndex> Parse(std::string bytes);

  const std::string& bytes() const { return bytes_; }

  // Samples, at least 1.
  int64_t size() const { return size_; }
  Hash128 fingerprint() const;
  const std::vector<std::string>& class_names() const { return class_names_; }

  // REQUIRES: index in [0, size()).
  Entry At(int64_t index) const;

  int64_t ignored_files() const;
  std::vector<std::string> ignored_examples() const;
  std::vector<std::string> empty_directories() const;

  // Memory it takes, in bytes.
  int64_t ByteCount() const;

 private:
  FolderIndex() = default;

  // Positions and counts from the header, which is sound as far as sizes go.
  absl::Status ParseHeader();
  absl::Status CheckStrings() const;
  absl::Status CheckDirectories() const;
  void ReadClassNames();

  // The number at byte `position` of bytes_.
  uint64_t NumberAt(size_t position) const;
  // The k-th string of all.
  absl::string_view StringAt(int64_t k) const;
  std::vector<std::string> Strings(int64_t begin, int64_t count) const;
  int64_t FirstSample(int64_t directory) const;
  int64_t LabelOf(int64_t directory) const;

  std::string bytes_;
  std::vector<std::string> class_names_;
  int64_t size_ = 0;
  int64_t directories_ = 0;
  int64_t classes_ = 0;
  int64_t examples_ = 0;
  int64_t empty_ = 0;
  // Where the pairs of the directories begin in bytes_, and the text.
  size_t pairs_ = 0;
  size_t text_ = 0;
};

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_FOLDER_INDEX_H_
