// Every transform, against what torchvision on Pillow gives: see
// tests/golden/make_augment_goldens.py.

#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "augment/center_crop.h"
#include "augment/color.h"
#include "augment/color_jitter.h"
#include "augment/crc32.h"
#include "augment/image.h"
#include "augment/pipeline.h"
#include "augment/random_resized_crop.h"
#include "augment/resample.h"
#include "augment/rotate.h"
#include "base/torch_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/augment/pixel_image.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace millrace::augment {
namespace {

using testing::ElementsAreArray;

// Calls `check` with the fields behind the first of each line of kind `kind`.
void ForEachGolden(
    absl::string_view kind,
    const std::function<void(std::istringstream* fields)>& check) {
  const std::string file = ReadFileOrDie("tests/golden/augment_goldens.txt");
  int count = 0;
  for (const absl::string_view line : absl::StrSplit(file, '\n')) {
    if (line.substr(0, kind.size() + 1) != absl::StrCat(kind, " ")) continue;
    SCOPED_TRACE(line);
    std::istringstream fields(std::string(line.substr(kind.size())));
    check(&fields);
    EXPECT_FALSE(fields.fail()) << "a field is missing";
    ++count;
  }
  EXPECT_GT(count, 0) << "no golden of " << kind;
}

// The image that MODE H W S name.
PixelImage ReadSource(std::istringstream* fields) {
  std::string mode;
  int height = 0;
  int width = 0;
  int seed = 0;
  *fields >> mode >> height >> width >> seed;
  return PixelImage::Test(height, width, seed, mode == "L" ? 1 : 3);
}

ImageSource RawSource(PixelImage* image) {
  const ImageView view = image->view();
  return {.bytes = image->bytes(),
          .height = view.height,
          .width = view.width,
          .channels = view.channels};
}

uint32_t ReadCrc(std::istringstream* fields) {
  uint32_t crc = 0;
  *fields >> std::hex >> crc >> std::dec;
  return crc;
}

TEST(AugmentGoldensTest, BoxesAreResizedAsByPillow) {
  ResampleScratch scratch;
  ForEachGolden("resize", [&scratch](std::istringstream* fields) {
    PixelImage source = ReadSource(fields);
    Region box;
    int height = 0;
    int width = 0;
    *fields >> box.top >> box.left >> box.height >> box.width >> height >>
        width;
    PixelImage target(height, width, source.view().channels);
    ASSERT_OK(Resample(source.view().Crop(box), target.view(), &scratch));
    EXPECT_EQ(target.Crc(), ReadCrc(fields));
  });
}

TEST(AugmentGoldensTest, ShortSidesAreResizedAsByTorchvision) {
  ForEachGolden("short", [](std::istringstream* fields) {
    PixelImage source = ReadSource(fields);
    int size = 0;
    CenterCrop whole;
    *fields >> size >> whole.size >> whole.width;
    PipelineOptions options = {.layout = Layout::kHWC};
    if (source.view().channels == 1) options.color = ColorMode::kGray;
    ASSERT_OK_AND_ASSIGN(
        const Pipeline pipeline,
        Pipeline::Create({Resize{.size = size}, whole}, options));
    TorchGenerator generator(0);
    Workspace workspace;
    std::string out(pipeline.output().ByteCount(), '\0');
    ASSERT_OK(
        pipeline.Run(RawSource(&source), &generator, &workspace, out.data()));
    EXPECT_EQ(Crc32(out), ReadCrc(fields));
  });
}

TEST(AugmentGoldensTest, CentersAreCroppedAndPaddedAsByTorchvision) {
  ForEachGolden("center", [](std::istringstream* fields) {
    PixelImage source = ReadSource(fields);
    int height = 0;
    int width = 0;
    *fields >> height >> width;
    PixelImage target(height, width, source.view().channels);
    CenterCropImage(source.view(), target.view());
    EXPECT_EQ(target.Crc(), ReadCrc(fields));
  });
}

TEST(AugmentGoldensTest, ImagesAreRotatedAsByPillow) {
  ForEachGolden("rotate", [](std::istringstream* fields) {
    PixelImage source = ReadSource(fields);
    double degrees = 0;
    *fields >> degrees;
    PixelImage target(source.view().height, source.view().width,
                      source.view().channels);
    RotateImage(source.view(), degrees, target.view());
    EXPECT_EQ(target.Crc(), ReadCrc(fields));
  });
}

void CheckColorChange(absl::string_view kind,
                      void (*change)(const ImageView&, float)) {
  ForEachGolden(kind, [change](std::istringstream* fields) {
    PixelImage image = ReadSource(fields);
    double factor = 0;
    *fields >> factor;
    change(image.view(), static_cast<float>(factor));
    EXPECT_EQ(image.Crc(), ReadCrc(fields));
  });
}

TEST(AugmentGoldensTest, BrightnessChangesAsInTorchvision) {
  CheckColorChange("brightness", AdjustBrightness);
}

TEST(AugmentGoldensTest, ContrastChangesAsInTorchvision) {
  CheckColorChange("contrast", AdjustContrast);
}

TEST(AugmentGoldensTest, SaturationChangesAsInTorchvision) {
  CheckColorChange("saturation", AdjustSaturation);
}

TEST(AugmentGoldensTest, HueChangesAsInTorchvision) {
  CheckColorChange("hue", AdjustHue);
}

TEST(AugmentGoldensTest, CropBoxesAreDrawnAsByTorchvision) {
  ForEachGolden("box", [](std::istringstream* fields) {
    uint64_t seed = 0;
    int height = 0;
    int width = 0;
    RandomResizedCrop crop;
    Region want;
    *fields >> seed >> height >> width >> crop.scale.first >>
        crop.scale.second >> crop.ratio.first >> crop.ratio.second >>
        want.top >> want.left >> want.height >> want.width;
    TorchGenerator generator(seed);
    EXPECT_TRUE(DrawCropBox(crop, height, width, &generator) == want);
  });
}

TEST(AugmentGoldensTest, ColorJitterIsDrawnAsByTorchvision) {
  ForEachGolden("jitter", [](std::istringstream* fields) {
    uint64_t seed = 0;
    ColorJitter jitter;
    ColorJitterDraw want;
    *fields >> seed >> jitter.brightness >> jitter.contrast >>
        jitter.saturation >> jitter.hue;
    for (int& change : want.order) *fields >> change;
    for (std::optional<float>& factor : want.factors) {
      std::string text;
      *fields >> text;
      if (text != "x") factor = static_cast<float>(std::stod(text));
    }
    TorchGenerator generator(seed);
    const ColorJitterDraw draw = DrawColorJitter(jitter, &generator);
    EXPECT_THAT(draw.order, ElementsAreArray(want.order));
    EXPECT_THAT(draw.factors, ElementsAreArray(want.factors));
  });
}

absl::StatusOr<Pipeline> MakePipeline(absl::string_view name, int size,
                                      const PipelineOptions& options) {
  if (name != "jitter") return Pipeline::Preset(name, size, options);
  return Pipeline::Create(
      {RandomResizedCrop{.size = size}, RandomHorizontalFlip{},
       ColorJitter{
           .brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1},
       RandomRotation{.degrees = 15}, ToTensor{}, Normalize{}},
      options);
}

TEST(AugmentGoldensTest, WholePipelinesMatchTorchvision) {
  Workspace workspace;
  ForEachGolden("pipeline", [&workspace](std::istringstream* fields) {
    std::string name;
    *fields >> name;
    PixelImage source = ReadSource(fields);
    int size = 0;
    uint64_t seed = 0;
    *fields >> size >> seed;
    PipelineOptions options;
    if (source.view().channels == 1) options.color = ColorMode::kGray;
    ASSERT_OK_AND_ASSIGN(const Pipeline pipeline,
                         MakePipeline(name, size, options));
    TorchGenerator generator(seed);
    std::string out(pipeline.output().ByteCount(), '\0');
    ASSERT_OK(
        pipeline.Run(RawSource(&source), &generator, &workspace, out.data()));
    EXPECT_EQ(Crc32(out), ReadCrc(fields));
  });
}

}  // namespace
}  // namespace millrace::augment
