#include "tests/support/temp_dir.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace millrace {

namespace fs = std::filesystem;

TempDir::TempDir() {
  const char* root = getenv("TEST_TMPDIR");
  path_ = absl::StrCat(root != nullptr ? root : testing::TempDir(),
                       "/millrace.XXXXXX");
  if (mkdtemp(path_.data()) == nullptr) {
    ADD_FAILURE() << "can't make a folder like " << path_;
  }
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TempDir::Join(absl::string_view name) const {
  return absl::StrCat(path_, "/", name);
}

std::string TempDir::Write(absl::string_view name,
                           absl::string_view contents) const {
  const std::string path = Join(name);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file) ADD_FAILURE() << "can't write " << path;
  return path;
}

std::string ReadFileOrDie(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) ADD_FAILURE() << "can't read " << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace millrace
