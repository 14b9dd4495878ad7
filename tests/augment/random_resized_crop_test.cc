#include "augment/random_resized_crop.h"

#include <tuple>
#include <vector>

#include "base/philox.h"
#include "base/torch_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace millrace::augment {
namespace {

using testing::FieldsAre;

Region Draw(uint64_t seed, int height, int width,
            const RandomResizedCrop& crop = {}) {
  TorchGenerator generator(seed);
  return DrawCropBox(crop, height, width, &generator);
}

TEST(DrawCropBoxTest, GivesTorchvisionsBoxes) {
  EXPECT_THAT(Draw(0, 375, 500), FieldsAre(17, 80, 294, 343));
  EXPECT_THAT(Draw(1, 375, 500), FieldsAre(71, 153, 272, 311));
  EXPECT_THAT(Draw(2, 500, 333), FieldsAre(143, 5, 339, 317));
  EXPECT_THAT(Draw(3, 64, 300), FieldsAre(17, 17, 45, 36));
  EXPECT_THAT(Draw(42, 1080, 1920), FieldsAre(68, 552, 830, 1080));
}

TEST(DrawCropBoxTest, FallsBackToTheCentre) {
  const RandomResizedCrop nearly_all = {.scale = {0.9, 1.0}};
  EXPECT_THAT(Draw(0, 10, 100, nearly_all), FieldsAre(0, 43, 10, 13));
  EXPECT_THAT(Draw(0, 100, 10, nearly_all), FieldsAre(43, 0, 13, 10));
  EXPECT_THAT(Draw(0, 1000, 1, nearly_all), FieldsAre(499, 0, 1, 1));
  EXPECT_THAT(Draw(0, 500, 2, nearly_all), FieldsAre(248, 0, 3, 2));
}

TEST(DrawCropBoxTest, BoxesAreNeverEmptyAndAlwaysInside) {
  for (const auto& [height, width] : std::vector<std::tuple<int, int>>{
           {1, 1}, {1, 1000}, {1000, 1}, {500, 2}, {2, 3}, {147, 190}}) {
    PhiloxGenerator generator(7, 0, 0);
    for (int i = 0; i < 20000; ++i) {
      const Region box = DrawCropBox({}, height, width, &generator);
      ASSERT_GE(box.height, 1);
      ASSERT_GE(box.width, 1);
      ASSERT_GE(box.top, 0);
      ASSERT_GE(box.left, 0);
      ASSERT_LE(box.top + box.height, height);
      ASSERT_LE(box.left + box.width, width);
    }
  }
}

TEST(DrawCropBoxTest, ExtremeRatiosStillGiveAPixel) {
  EXPECT_THAT(Draw(0, 5, 1, {.ratio = {1000, 1000}}), FieldsAre(2, 0, 1, 1));
  EXPECT_THAT(Draw(0, 1, 5, {.ratio = {0.001, 0.001}}), FieldsAre(0, 2, 1, 1));
}

TEST(DrawCropBoxTest, WholeImageIsTakenWhereItFits) {
  EXPECT_THAT(Draw(0, 30, 30, {.scale = {1, 1}, .ratio = {1, 1}}),
              FieldsAre(0, 0, 30, 30));
}

}  // namespace
}  // namespace millrace::augment
