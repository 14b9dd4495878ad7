// Whole pipelines over a synthetic image, against what torchvision 0.29 on
// Pillow 13 gives.

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "augment/crc32.h"
#include "augment/pipeline.h"
#include "base/torch_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

constexpr int kHeight = 48;
constexpr int kWidth = 64;

// The CRC-32 of what `transforms` make of the synthetic image, with torch's
// random numbers seeded with 0.
uint32_t CrcOf(std::vector<Transform> transforms,
               const PipelineOptions& options) {
  const absl::StatusOr<Pipeline> pipeline =
      Pipeline::Create(std::move(transforms), options);
  EXPECT_OK(pipeline);
  if (!pipeline.ok()) return 0;
  const std::vector<uint8_t> pixels = TestPixels(kHeight, kWidth);
  ImageSource source;
  source.bytes = absl::string_view(reinterpret_cast<const char*>(pixels.data()),
                                   pixels.size());
  source.height = kHeight;
  source.width = kWidth;
  TorchGenerator generator(0);
  Workspace workspace;
  std::string out(pipeline->output().ByteCount(), '\0');
  EXPECT_OK(pipeline->Run(source, &generator, &workspace, out.data()));
  return Crc32(out);
}

uint32_t PixelCrcOf(std::vector<Transform> transforms) {
  return CrcOf(std::move(transforms), {.layout = Layout::kHWC});
}

TEST(PipelineGoldensTest, SourceIsTheAgreedOne) {
  EXPECT_EQ(PixelCrcOf({CenterCrop{.size = kHeight, .width = kWidth}}),
            0xa6b20f04);
}

TEST(PipelineGoldensTest, ResizeToPairMatchesPillow) {
  EXPECT_EQ(PixelCrcOf({Resize{.size = 24, .width = 32}}), 0x238d9dd7);
  EXPECT_EQ(PixelCrcOf({Resize{.size = 96, .width = 128}}), 0x18bbaac2);
}

TEST(PipelineGoldensTest, ResizeOfShortSideMatchesTorchvision) {
  EXPECT_EQ(
      PixelCrcOf({Resize{.size = 30}, CenterCrop{.size = 30, .width = 40}}),
      0x132d0c4a);
}

TEST(PipelineGoldensTest, CenterCropMatchesTorchvision) {
  EXPECT_EQ(PixelCrcOf({CenterCrop{.size = 33}}), 0xf52c52f6);
}

TEST(PipelineGoldensTest, TensorsMatchTorchvision) {
  const CenterCrop whole = {.size = kHeight, .width = kWidth};
  EXPECT_EQ(CrcOf({whole, ToTensor{}}, {}), 0x8c199ee7);
  EXPECT_EQ(CrcOf({whole, ToTensor{}, Normalize{}}, {}), 0x63164fa1);
}

TEST(PipelineGoldensTest, RotationAnglesAreThoseOfTorchvision) {
  TorchGenerator generator(0);
  EXPECT_EQ(generator.Uniform(-15, 15), -0.11230230331420898f);
  EXPECT_EQ(generator.Uniform(-15, 15), 8.046653747558594f);
  EXPECT_EQ(generator.Uniform(-15, 15), -12.345677375793457f);
}

TEST(PipelineGoldensTest, WholeTrainingPipelineMatchesTorchvision) {
  EXPECT_EQ(CrcOf({RandomResizedCrop{.size = 32}, RandomHorizontalFlip{},
                   ColorJitter{.brightness = 0.4,
                               .contrast = 0.4,
                               .saturation = 0.4,
                               .hue = 0.1},
                   RandomRotation{.degrees = 15}, ToTensor{}, Normalize{}},
                  {}),
            0x9120d367);
}

}  // namespace
}  // namespace millrace::augment
