#include "augment/transforms.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::HasSubstr;

void DoNothing(cv::Mat*, Generator*) {}

TEST(ValidateTest, AcceptsDefaultsAndBothEndsOfRanges) {
  for (const Transform& transform : std::vector<Transform>{
           Resize{}, CenterCrop{}, RandomResizedCrop{}, RandomHorizontalFlip{},
           RandomRotation{}, ColorJitter{}, ToTensor{}, Normalize{},
           Resize{.size = 1, .width = 65535}, RandomHorizontalFlip{.p = 1},
           RandomHorizontalFlip{.p = 0}, RandomRotation{.degrees = 0},
           ColorJitter{.hue = 0.5}, Custom{.name = "x", .apply = DoNothing}}) {
    EXPECT_OK(Validate(transform)) << ToString(transform);
  }
}

TEST(ValidateTest, NamesTransformArgumentAndValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<Transform, std::string>> bad = {
      {Resize{.size = 0}, "Resize: size is 0"},
      {Resize{.size = 65536}, "Resize: size is 65536"},
      {Resize{.width = -1}, "Resize: width is -1"},
      {CenterCrop{.size = -3}, "CenterCrop: size is -3"},
      {RandomResizedCrop{.size = 0}, "RandomResizedCrop: size is 0"},
      {RandomResizedCrop{.scale = {0, 1}}, "scale is (0, 1)"},
      {RandomResizedCrop{.scale = {0.5, 0.4}}, "scale is (0.5, 0.4)"},
      {RandomResizedCrop{.scale = {0.5, 1.1}}, "scale is (0.5, 1.1)"},
      {RandomResizedCrop{.ratio = {0, 1}}, "ratio is (0, 1)"},
      {RandomResizedCrop{.ratio = {2, 1}}, "ratio is (2, 1)"},
      {RandomResizedCrop{.ratio = {nan, 1}}, "ratio is (nan, 1)"},
      {RandomHorizontalFlip{.p = 1.5}, "RandomHorizontalFlip: p is 1.5"},
      {RandomHorizontalFlip{.p = nan}, "RandomHorizontalFlip: p is nan"},
      {RandomRotation{.degrees = -1}, "RandomRotation: degrees is -1"},
      {ColorJitter{.brightness = -0.1}, "ColorJitter: brightness is -0.1"},
      {ColorJitter{.contrast = nan}, "ColorJitter: contrast is nan"},
      {ColorJitter{.saturation = -1}, "ColorJitter: saturation is -1"},
      {ColorJitter{.hue = 0.6}, "ColorJitter: hue is 0.6, want 0 to 0.5"},
      {Normalize{.std = {1, 0, 1}}, "Normalize: std[1] is 0"},
      {Normalize{.mean = {nan, 0, 0}}, "Normalize: mean[0] is nan"},
      {Custom{.apply = DoNothing}, "Custom: name is empty"},
      {Custom{.name = "Vignette"}, "Custom Vignette: apply is empty"}};
  for (const auto& [transform, message] : bad) {
    EXPECT_THAT(
        Validate(transform),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(ToStringTest, LeavesDefaultsOut) {
  EXPECT_EQ(ToString(Resize{}), "Resize(256)");
  EXPECT_EQ(ToString(Resize{.size = 20, .width = 30}), "Resize(20, 30)");
  EXPECT_EQ(ToString(CenterCrop{.size = 7}), "CenterCrop(7)");
  EXPECT_EQ(ToString(RandomResizedCrop{}), "RandomResizedCrop(224)");
  EXPECT_EQ(ToString(RandomResizedCrop{.scale = {0.5, 1}}),
            "RandomResizedCrop(224, scale=(0.5, 1))");
  EXPECT_EQ(ToString(RandomResizedCrop{.ratio = {0.5, 2}}),
            "RandomResizedCrop(224, ratio=(0.5, 2))");
  EXPECT_EQ(ToString(RandomHorizontalFlip{}), "RandomHorizontalFlip");
  EXPECT_EQ(ToString(RandomHorizontalFlip{.p = 0.25}),
            "RandomHorizontalFlip(0.25)");
  EXPECT_EQ(ToString(RandomRotation{.degrees = 15}), "RandomRotation(15)");
  EXPECT_EQ(ToString(ColorJitter{.brightness = 0.4, .saturation = 0.2}),
            "ColorJitter(0.4, 0, 0.2)");
  EXPECT_EQ(ToString(ToTensor{}), "ToTensor");
  EXPECT_EQ(ToString(Normalize{}), "Normalize(imagenet)");
  EXPECT_EQ(ToString(Normalize{.mean = {0, 0, 0}, .std = {1, 1, 2}}),
            "Normalize(mean=(0, 0, 0), std=(1, 1, 2))");
  EXPECT_EQ(ToString(Custom{.name = "Vignette(0.3)"}), "Vignette(0.3)");
}

std::string HashOf(const Transform& transform) {
  Hasher hasher;
  AddToHash(transform, &hasher);
  return hasher.Finish().ToHex();
}

TEST(AddToHashTest, TellsKindsAndArgumentsApart) {
  EXPECT_EQ(HashOf(Resize{.size = 9}), HashOf(Resize{.size = 9}));
  EXPECT_NE(HashOf(Resize{.size = 9}), HashOf(CenterCrop{.size = 9}));
  EXPECT_NE(HashOf(Resize{.size = 9}), HashOf(Resize{.size = 8}));
  // Closer than the text shows.
  EXPECT_NE(HashOf(RandomHorizontalFlip{.p = 0.3}),
            HashOf(RandomHorizontalFlip{.p = 0.1 + 0.2}));
  EXPECT_NE(HashOf(Custom{.name = "a"}), HashOf(Custom{.name = "b"}));
}

}  // namespace
}  // namespace millrace::augment
