// Photographs, where MILLRACE_REAL_DATA names a folder that has them.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "augment/image_header.h"
#include "augment/pipeline.h"
#include "base/philox.h"
#include "gtest/gtest.h"
#include "tests/augment/decode_image.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::augment {
namespace {

namespace fs = std::filesystem;

class RealImagesTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("MILLRACE_REAL_DATA");
    if (root == nullptr) {
      GTEST_SKIP() << "MILLRACE_REAL_DATA names no folder of photographs";
    }
    for (const char* set : {"imagenet-sample", "sign-digits"}) {
      for (const auto& entry :
           fs::recursive_directory_iterator(fs::path(root) / set)) {
        const std::string suffix = entry.path().extension();
        if (suffix == ".JPEG" || suffix == ".JPG") {
          paths_.push_back(entry.path());
        }
      }
    }
    std::sort(paths_.begin(), paths_.end());
    ASSERT_GE(paths_.size(), 3000u);
  }

  std::vector<std::string> paths_;
};

TEST_F(RealImagesTest, AllRunThroughEveryPreset) {
  Workspace workspace;
  for (const char* name : {"train", "train_full", "eval"}) {
    ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Preset(name, 64));
    std::vector<char> out(pipeline.output().ByteCount());
    for (size_t i = 0; i < paths_.size(); ++i) {
      PhiloxGenerator generator(1, 0, i);
      EXPECT_OK(pipeline.Run({.bytes = ReadFileOrDie(paths_[i])}, &generator,
                             &workspace, out.data()))
          << paths_[i];
    }
  }
}

TEST_F(RealImagesTest, RegionsArePartsOfTheWholeImage) {
  for (size_t i = 0; i < paths_.size(); i += 25) {
    const std::string bytes = ReadFileOrDie(paths_[i]);
    ASSERT_OK_AND_ASSIGN(const ImageHeader header, ReadImageHeader(bytes));
    if (header.height * header.width > 1 << 20) continue;
    ASSERT_OK_AND_ASSIGN(PixelImage whole, DecodeImage(bytes));
    const Region region = {header.height / 3, header.width / 5,
                           header.height / 2, header.width / 3};
    PixelImage want(region.height, region.width, 3);
    CopyImage(whole.view().Crop(region), want.view());
    ASSERT_OK_AND_ASSIGN(const PixelImage part, DecodeImage(bytes, 3, region));
    EXPECT_EQ(part.pixels(), want.pixels()) << paths_[i];
  }
}

}  // namespace
}  // namespace millrace::augment
