#ifndef MILLRACE_TESTS_SUPPORT_TEMP_DIR_H_
#define MILLRACE_TESTS_SUPPORT_TEMP_DIR_H_

// A folder for one test, and files in it.

#include <string>

#include "absl/strings/string_view.h"

namespace millrace {

// Makes an empty folder below the test's temporary directory and removes it,
// with all that is in it, when destroyed.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

  // path() + "/" + name. Any bytes but NUL in `name`.
  std::string Join(absl::string_view name) const;

  // Writes `contents` to Join(name), making folders as needed; gives the path.
  std::string Write(absl::string_view name, absl::string_view contents) const;

 private:
  std::string path_;
};

// The whole of a file; fails the test if it can't be read.
std::string ReadFileOrDie(const std::string& path);

}  // namespace millrace

#endif  // MILLRACE_TESTS_SUPPORT_TEMP_DIR_H_
