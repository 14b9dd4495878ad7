#include "storage/dataset.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace millrace::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SampleTest, IsEmptyAtFirst) {
  const Sample sample;
  EXPECT_THAT(sample.fields(), IsEmpty());
  EXPECT_EQ(sample.labels().count, 0);
  EXPECT_EQ(sample.scratch_capacity(), 0);
}

TEST(SampleTest, ClearForgetsFieldsLabelsAndOwnerButKeepsScratch) {
  Sample sample;
  auto owner = std::make_shared<int>(1);
  ASSERT_NE(sample.Scratch(10), nullptr);
  sample.AddField("abc", Descriptor{});
  sample.SetLabel(7);
  sample.Pin(owner);
  EXPECT_EQ(owner.use_count(), 2);
  const size_t capacity = sample.scratch_capacity();

  sample.Clear();
  EXPECT_THAT(sample.fields(), IsEmpty());
  EXPECT_EQ(sample.labels().count, 0);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(sample.scratch_capacity(), capacity);
}

TEST(SampleTest, ScratchGrowsToTheLargestSizeOnly) {
  Sample sample;
  EXPECT_NE(sample.Scratch(0), nullptr);
  char* large = sample.Scratch(100000);
  ASSERT_NE(large, nullptr);
  memset(large, 1, 100000);
  const size_t capacity = sample.scratch_capacity();
  EXPECT_GE(capacity, 100000);
  EXPECT_EQ(sample.Scratch(1), large);
  EXPECT_EQ(sample.Scratch(100000), large);
  EXPECT_EQ(sample.scratch_capacity(), capacity);
}

TEST(SampleTest, ScratchBeyondAllMemoryIsNull) {
  Sample sample;
  EXPECT_EQ(sample.Scratch(SIZE_MAX), nullptr);
  EXPECT_EQ(sample.Scratch(SIZE_MAX / 2 - 100), nullptr);
  EXPECT_EQ(sample.scratch_capacity(), 0);
  EXPECT_NE(sample.Scratch(10), nullptr);
}

TEST(SampleTest, LabelsAreOneNumberOrASpanOfTheOwner) {
  Sample sample;
  sample.SetLabel(-3);
  EXPECT_THAT(sample.labels().AsInt64(), ElementsAre(-3));
  const float boxes[] = {0.5f, 1.5f};
  sample.SetLabels({DType::kFloat32, boxes, 2});
  EXPECT_THAT(sample.labels().AsFloat(), ElementsAre(0.5f, 1.5f));
}

// The least that a user's own data set has to have.
class SquaresDataset : public Dataset {
 public:
  int64_t size() const override { return 3; }
  absl::Status Read(int64_t index, Sample* sample) const override {
    sample->Clear();
    if (index < 0 || index >= size()) return absl::OutOfRangeError("index");
    sample->SetLabel(index * index);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Key(int64_t index) const override {
    if (index < 0 || index >= size()) return absl::OutOfRangeError("index");
    return std::string(static_cast<size_t>(index) + 1, '\n');
  }
  Hash128 fingerprint() const override { return {}; }
  std::string Describe() const override { return "squares"; }
};

TEST(DatasetTest, DefaultsServeASmallDatasetOfOnesOwn) {
  const SquaresDataset dataset;
  ASSERT_EQ(dataset.fields().size(), 1);
  EXPECT_EQ(dataset.fields()[0].name, "image");
  EXPECT_TRUE(dataset.fields()[0].descriptor.encoded);
  EXPECT_THAT(dataset.class_names(), IsEmpty());
  EXPECT_EQ(dataset.IndexBytes(), 0);
  EXPECT_EQ(dataset.Location(1), "\\x0A\\x0A");
  EXPECT_EQ(dataset.Location(3), "sample 3");
}

TEST(FingerprintBuilderTest, HasTheValuesThatCheckpointsHold) {
  // Rebuilt from the layout with another XXH3-128.
  EXPECT_EQ(FingerprintBuilder({}).Finish().ToHex(),
            "d20c24aa5cdc64e6962443fce716b1e1");
  FingerprintBuilder builder(std::vector<std::string>{"cat", "dog"});
  builder.Add("cat/1.jpg", 0);
  builder.Add("dog/1.jpg", 1);
  EXPECT_EQ(builder.Finish().ToHex(), "d6f7a284bcb37c486e4dbf1f0af9508d");
  EXPECT_EQ(builder.Finish("resize_max=256, quality=90").ToHex(),
            "a48fd9b897c78318a166f49a6995bbc0");
}

TEST(FingerprintBuilderTest, AClassNumberIsOneInt64) {
  const int64_t label = 5;
  FingerprintBuilder number({}), labels({});
  number.Add("k", label);
  labels.Add("k", LabelView{DType::kInt64, &label, 1});
  EXPECT_EQ(number.Finish(), labels.Finish());
}

TEST(FingerprintBuilderTest, TellsApartWhatRunsTogetherAsText) {
  using Samples = std::vector<std::pair<std::string, int64_t>>;
  const std::pair<std::vector<std::string>, Samples> sets[] = {
      {{}, {}},
      {{""}, {}},
      {{"ab"}, {{"c", 0}}},
      {{"a"}, {{"bc", 0}}},
      {{"a", "b"}, {{"c", 0}}},
      {{}, {{"a", 0}, {"b", 0}}},
      {{}, {{"b", 0}, {"a", 0}}},
      {{}, {{"ab", 0}}},
      {{}, {{"a", 0}, {"b", 1}}},
  };
  std::vector<std::string> seen;
  for (const auto& [class_names, samples] : sets) {
    FingerprintBuilder builder(class_names);
    for (const auto& [key, label] : samples) builder.Add(key, label);
    const std::string hex = builder.Finish().ToHex();
    EXPECT_THAT(seen, testing::Not(testing::Contains(hex)));
    seen.push_back(hex);
  }
}

TEST(FingerprintBuilderTest, TellsLabelTypesAndCountsApart) {
  const int64_t zeros[2] = {0, 0};
  std::vector<std::string> seen;
  for (const LabelView& labels :
       {LabelView{}, LabelView{DType::kInt64, zeros, 1},
        LabelView{DType::kInt64, zeros, 2},
        LabelView{DType::kFloat32, zeros, 1},
        LabelView{DType::kFloat32, zeros, 2}}) {
    FingerprintBuilder builder({});
    builder.Add("k", labels);
    const std::string hex = builder.Finish().ToHex();
    EXPECT_THAT(seen, testing::Not(testing::Contains(hex)));
    seen.push_back(hex);
  }
}

}  // namespace
}  // namespace millrace::storage
