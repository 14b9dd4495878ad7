#ifndef MILLRACE_STORAGE_FOLDER_LISTER_H_
#define MILLRACE_STORAGE_FOLDER_LISTER_H_

// Finds the images below a folder, directories in parallel.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::storage {

// What makes a file an image, in upper or lower case.
inline constexpr absl::string_view kImageSuffixes[] = {
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"};

// Whether `name` ends in one of them.
bool HasImageSuffix(absl::string_view name);

struct FolderListerOptions {
  // Take names that start with a dot.
  bool include_hidden = false;

  // Directories that are read at the same time, at least 1.
  int threads = 1;
  // False: ask for the type of every entry, as has to be done on file systems
  // that don't tell. For tests.
  bool trust_entry_types = true;
};

struct FolderListing {
  // One directory that holds images.
  struct Directory {
    // Below the root: "cat" or "cat/more".
    std::string path;
    // Index in class_names.
    int64_t label = 0;
    // Images in it.
    int64_t count = 0;
    // Their names, in byte order, each with a NUL after it.
    std::string names;
  };

  // The directories right below the root, in byte order; also those without
  // images.
  std::vector<std::string> class_names;
  // By label, then in byte order of their paths.
  std::vector<Directory> directories;
  // Files that are no images of a class, and up to three of their paths below
  // the root, the first in order.
  int64_t ignored_files = 0;
  std::vector<std::string> ignored_examples;
  // How often a file's type was asked for: once a link, where entries tell.
  int64_t type_queries = 0;
};

// Lists `root` by the rules of storage/image_folder.h. The result does not
// depend on `options.threads`. Directories may lie deeper than PATH_MAX allows
// to name them.
//
// Fails as FileStatus() says where a directory, or the target of a link, can't
// be looked into; of several such the first in order is named. A link to
// nothing is an ignored file.
absl::StatusOr<FolderListing> ListFolder(const std::string& root,
                                         const FolderListerOptions& options);

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_FOLDER_LISTER_H_
