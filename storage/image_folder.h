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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage/dataset.h"

namespace millrace::storage {

class FolderIndex;

struct ImageFolderOptions {
  // Keep classes without an image instead of refusing the folder.
  bool allow_empty = false;
  // Take names that start with a dot, as torchvision does. `.DS_Store`,
  // `.ipynb_checkpoints` and `._1.jpg` are litter to everybody else.
  bool include_hidden = false;

  // Threads that list directories, in [0, 1024]; 0 = one per allowed CPU, at
  // most 16. The index is the same for any number. More help where a directory
  // is slow to come, as over a network.
  int threads = 0;

  // InvalidArgument, naming field and value, if one is outside its range.
  absl::Status Validate() const;
};

// What listing met besides samples.
struct ImageFolderSummary {
  // Files that are no samples: other suffixes, hidden names, pipes, sockets and
  // devices, broken links.
  int64_t ignored_files = 0;
  // Up to three of their paths below the root, the first in order, byte for
  // byte.
  std::vector<std::string> ignored_examples;
  // Names of directories right below the root that have no image: classes that
  // allow_empty kept, and `__MACOSX`, which then is no class.
  std::vector<std::string> empty_directories;
};

// Order and rules (torchvision 0.29's, but for hidden names):
//  * classes are the root's directories, links followed, in byte order of their
//    names in every locale; `__MACOSX`, which archives made on a Mac leave
//    behind, is one only if it has images;
//  * samples are regular files, links followed, with the suffix .jpg .jpeg .png
//    .ppm .bmp .pgm .tif .tiff .webp in any case; in a class, directories in
//    byte order of their path, files in byte order of their name within each;
//  * the bytes of a name are kept as they are;
//  * a directory reached again through links that make a circle is not entered;
//    one that two links lead to is entered by both.
//
// A path of PATH_MAX bytes or more, root included, is listed as any other, but
// the system can't open it: reading it is DataLoss.
//
// The index is one flat block (storage/folder_index.h): 8 bytes a sample and
// those of its name, plus each directory's path once. Listing reads directories
// in parallel and asks for a file's type only where the directory entry doesn't
// tell (links, some network file systems).
//
// A relative root means the working directory of each moment.
//
// Thread-safe: immutable once opened.
class ImageFolder : public Dataset {
 public:
  // Lists `root`. Blocks for I/O. Fails with
  //  * InvalidArgument: options, or a root that is no path;
  //  * NotFound, PermissionDenied, ResourceExhausted, Unavailable, DataLoss: as
  //    the system said of root, of a directory below it, or of what a link
  //    leads to, with its path;
  //  * NotFound with exit code kData: no class directory, no image at all, or
  //    classes without an image unless allow_empty; names the root, all such
  //    classes, the accepted suffixes, how many files were ignored and three of
  //    them.
  static absl::StatusOr<std::unique_ptr<ImageFolder>> Open(
      absl::string_view root, const ImageFolderOptions& options = {});

  // The index as bytes, to hand to other ranks; FromIndex() opens it without
  // listing or looking at `root`. The bytes are the same for every thread count
  // and file system. FromIndex() fails with DataLoss where the bytes are not
  // such an index: cut short, changed, or of another version.
  std::string SerializeIndex() const;
  static absl::StatusOr<std::unique_ptr<ImageFolder>> FromIndex(
      absl::string_view root, std::string index);

  ~ImageFolder() override;

  int64_t size() const override;
  const std::vector<std::string>& class_names() const override;
  Hash128 fingerprint() const override;
  // Reads the file anew each time. An empty file is a field of no bytes. Errors
  // are this sample's alone and have its path: NotFound for a file that went
  // away, DataLoss for one that is no regular file any more, exceeds 2^31 - 1
  // bytes or became shorter while it was read; ResourceExhausted names the
  // limit of open files.
  absl::Status Read(int64_t index, Sample* sample) const override;
  // Opens no file.
  absl::Status ReadLabels(int64_t index, Sample* sample) const override;
  absl::StatusOr<std::string> Key(int64_t index) const override;
  std::string Location(int64_t index) const override;
  std::string Describe() const override;
  int64_t IndexBytes() const override;

  // What was met besides samples when the folder was listed.
  ImageFolderSummary summary() const;

 private:
  ImageFolder(absl::string_view root, FolderIndex index);

  absl::Status CheckIndex(int64_t index) const;

  // Without slashes at its end, unless it is nothing else.
  std::string root_;
  std::unique_ptr<const FolderIndex> index_;
};

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_IMAGE_FOLDER_H_
