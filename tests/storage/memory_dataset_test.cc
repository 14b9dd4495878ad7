#include "storage/memory_dataset.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kPoints[6] = {0, 1, 2, 3, 4, 5};
constexpr uint8_t kFlags[3] = {7, 8, 9};

MemoryDatasetOptions ThreeImages() {
  MemoryDatasetOptions options;
  options.size = 3;
  options.encoded = {"first", "", "third"};
  return options;
}

MemoryDatasetOptions ThreeArrays() {
  MemoryDatasetOptions options;
  options.size = 3;
  options.arrays = {
      {.name = "points",
       .dtype = DType::kFloat32,
       .shape = {2},
       .data = kPoints},
      {.name = "flag", .shape = {}, .layout = Layout::kCHW, .data = kFlags},
  };
  return options;
}

TEST(MemoryDatasetTest, WithoutNamesKeysAreNumbersAndLabelsZero) {
  ASSERT_OK_AND_ASSIGN(const auto dataset,
                       MemoryDataset::Create(ThreeImages()));
  EXPECT_THAT(dataset->class_names(), ElementsAre());
  EXPECT_THAT(dataset->Key(0), IsOkAndHolds("0"));
  EXPECT_THAT(dataset->Key(2), IsOkAndHolds("2"));
  EXPECT_EQ(dataset->Location(2), "2");
  EXPECT_EQ(dataset->Describe(), "memory: 3 images");
  Sample sample;
  ASSERT_OK(dataset->Read(1, &sample));
  EXPECT_EQ(sample.fields()[0].bytes, "");
  EXPECT_THAT(sample.labels().AsInt64(), ElementsAre(0));
}

TEST(MemoryDatasetTest, GivesEachArraysBlockWithTypeAndShape) {
  ASSERT_OK_AND_ASSIGN(const auto dataset,
                       MemoryDataset::Create(ThreeArrays()));
  EXPECT_EQ(dataset->Describe(), "memory: 3 samples of 2 arrays");
  ASSERT_EQ(dataset->fields().size(), 2);
  EXPECT_EQ(dataset->fields()[0].name, "points");
  EXPECT_EQ(dataset->fields()[0].descriptor.dtype, DType::kFloat32);
  EXPECT_EQ(dataset->fields()[1].name, "flag");
  EXPECT_EQ(dataset->fields()[1].descriptor.layout, Layout::kCHW);

  Sample sample;
  ASSERT_OK(dataset->Read(2, &sample));
  ASSERT_EQ(sample.fields().size(), 2);
  float points[2];
  ASSERT_EQ(sample.fields()[0].bytes.size(), sizeof(points));
  memcpy(points, sample.fields()[0].bytes.data(), sizeof(points));
  EXPECT_THAT(points, ElementsAre(4, 5));
  EXPECT_FALSE(sample.fields()[0].descriptor.encoded);
  EXPECT_EQ(sample.fields()[0].descriptor.shape, Shape({2}));
  EXPECT_EQ(sample.fields()[1].bytes, "\x09");
  EXPECT_EQ(sample.fields()[1].descriptor.shape, Shape());
}

TEST(MemoryDatasetTest, LendsWithoutCopying) {
  ASSERT_OK_AND_ASSIGN(const auto dataset,
                       MemoryDataset::Create(ThreeArrays()));
  Sample sample;
  ASSERT_OK(dataset->Read(1, &sample));
  EXPECT_EQ(static_cast<const void*>(sample.fields()[0].bytes.data()),
            &kPoints[2]);
  EXPECT_EQ(sample.scratch_capacity(), 0);
}

TEST(MemoryDatasetTest, KeepsTheOwnerAsLongAsItLives) {
  auto owner = std::make_shared<int>(0);
  MemoryDatasetOptions options = ThreeArrays();
  options.owner = owner;
  ASSERT_OK_AND_ASSIGN(auto dataset, MemoryDataset::Create(std::move(options)));
  options = {};
  EXPECT_EQ(owner.use_count(), 2);
  dataset.reset();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(MemoryDatasetTest, AcceptsLabelsAtBothEndsOfTheClassNames) {
  MemoryDatasetOptions options = ThreeImages();
  options.class_names = {"a", "b"};
  options.labels = {0, 1, 1};
  ASSERT_OK_AND_ASSIGN(const auto dataset, MemoryDataset::Create(options));
  EXPECT_EQ(dataset->Describe(), "memory: 3 images in 2 classes");
}

TEST(MemoryDatasetTest, AcceptsAnyLabelsWithoutClassNames) {
  MemoryDatasetOptions options = ThreeImages();
  options.labels = {-5, std::numeric_limits<int64_t>::max(), 0};
  ASSERT_OK_AND_ASSIGN(const auto dataset, MemoryDataset::Create(options));
  Sample sample;
  ASSERT_OK(dataset->Read(0, &sample));
  EXPECT_THAT(sample.labels().AsInt64(), ElementsAre(-5));
}

TEST(MemoryDatasetTest, RefusesWhatDoesNotFitTogetherNamingTheNumbers) {
  struct Case {
    std::function<void(MemoryDatasetOptions*)> spoil;
    std::string message;
    bool arrays = false;
  };
  const Case cases[] = {
      {[](auto* o) { o->size = 0; }, "size is 0"},
      {[](auto* o) { o->size = -1; }, "size is -1"},
      {[](auto* o) { o->size = 4; }, "encoded has 3 entries for 4 samples"},
      {[](auto* o) { o->encoded.clear(); }, "0 images and 0 arrays"},
      {[](auto* o) { o->arrays = ThreeArrays().arrays; },
       "3 images and 2 arrays"},
      {[](auto* o) {
         o->labels = {1, 2};
       },
       "labels has 2 entries for 3 samples"},
      {[](auto* o) {
         o->labels = {0, 1, 2};
         o->class_names = {"a", "b"};
       },
       "labels[2] is 2, but there are 2 class names"},
      {[](auto* o) {
         o->labels = {0, -1, 0};
         o->class_names = {"a", "b"};
       },
       "labels[1] is -1"},
      {[](auto* o) { o->keys = {"a"}; }, "keys has 1 entries for 3 samples"},
      {[](auto* o) {
         o->keys = {"a\n", "b", "a\n"};
       },
       "keys[2] \"a\\x0A\" stands there twice"},
      {[](auto* o) {
         o->keys = {"a", "", "b"};
       },
       "keys[1] is empty"},
      {[](auto* o) { o->arrays[0].name = ""; }, "an array has no name", true},
      {[](auto* o) { o->arrays[1].name = "points"; },
       "two arrays are named \"points\"", true},
      {[](auto* o) { o->arrays[1].data = nullptr; }, "\"flag\" has no data",
       true},
      {[](auto* o) {
         o->arrays[0].shape = {2, 0};
       },
       "shape [2, 0]", true},
      {[](auto* o) { o->arrays[0].shape = {-1}; }, "shape [-1]", true},
      {[](auto* o) { o->arrays[0].shape = {int64_t{1} << 60}; },
       "are not an array", true},
  };
  for (const Case& c : cases) {
    MemoryDatasetOptions options = c.arrays ? ThreeArrays() : ThreeImages();
    c.spoil(&options);
    EXPECT_THAT(
        MemoryDataset::Create(options),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
  }
}

}  // namespace
}  // namespace millrace::storage
