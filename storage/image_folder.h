#ifndef MILLRACE_STORAGE_IMAGE_FOLDER_H_
#define MILLRACE_STORAGE_IMAGE_FOLDER_H_

// A folder with one subfolder a class, as torchvision's ImageFolder reads it:
//
//   root/cat/1.jpg          label 0 (classes in byte order of their names)
//   root/cat/more/2.jpg     label 0
//   root/dog/1.png          label 1

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/dataset.h"

namespace millrace::storage {

struct ImageFolderOptions {
  // Keep classes without an image instead of refusing the folder.
  bool allow_empty = false;
  // Take names that start with a dot, as torchvision does. `.DS_Store`,
  // `.ipynb_checkpoints` and `._1.jpg` are litter to everybody else.
  bool include_hidden = false;

  // Listing threads; 0 = one per allowed CPU, at most 16. The index is the same
  // for any number.
  int threads = 0;
};

// What listing met besides samples.
struct ImageFolderSummary {
  // Files that are no samples: other suffixes, hidden names, pipes, sockets and
  // devices, broken links.
  int64_t ignored_files = 0;
  // Up to three of their paths below the root, for messages.
  std::vector<std::string> ignored_examples;
};

// Order and rules (torchvision 0.29's, but for hidden names):
//  * classes are the root's directories, links followed, in byte order of their
//    names in every locale; `__MACOSX` counts only if it has images;
//  * samples are regular files, links followed, with the suffix .jpg .jpeg .png
//    .ppm .bmp .pgm .tif .tiff .webp in any case; in a class, directories in
//    byte order of their path, files in byte order of their name within each;
//  * the bytes of a name are kept as they are;
//  * a directory reached twice through links that make a circle is not entered
//    again.
//
// The index is one flat block: paths as (directory number, name) in one array
// of bytes, one 8-byte entry a sample. Listing reads directories in parallel
// and asks for a file's type only where the directory entry doesn't tell
// (links, some network file systems).
//
// Thread-safe: immutable once opened.
class ImageFolder : public Dataset {
 public:
  // Lists `root`. Fails with
  //  * NotFound, PermissionDenied: root, or a directory below it;
  //  * NotFound with exit code kData: no class directory, no image at all
  //  (names
  //    the accepted suffixes, how many files were ignored and three of them),
  //    or empty classes without allow_empty (names all of them).
  static absl::StatusOr<std::unique_ptr<ImageFolder>> Open(
      absl::string_view root, const ImageFolderOptions& options = {});

  // The index as bytes, to hand to other ranks; FromIndex() opens it without
  // listing. The bytes are the same for every thread count and file system.
  // FromIndex() fails with DataLoss where the bytes are not such an index.
  std::string SerializeIndex() const;
  static absl::StatusOr<std::unique_ptr<ImageFolder>> FromIndex(
      absl::string_view root, std::string index);

  ~ImageFolder() override;

  int64_t size() const override;
  const std::vector<std::string>& class_names() const override;
  Hash128 fingerprint() const override;
  // ENOENT and the like are errors of this sample alone, with its path.
  absl::Status Read(int64_t index, Sample* sample) const override;
  absl::StatusOr<std::string> Key(int64_t index) const override;
  std::string Location(int64_t index) const override;
  std::string Describe() const override;
  int64_t IndexBytes() const override;

  const ImageFolderSummary& summary() const;

 private:
  struct Index;
  ImageFolder(std::string root, std::unique_ptr<const Index> index);

  std::string root_;
  std::unique_ptr<const Index> index_;
};

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_IMAGE_FOLDER_H_
