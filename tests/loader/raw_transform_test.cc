#include "loader/raw_transform.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "base/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "storage/memory_dataset.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using storage::Descriptor;
using storage::MemoryDataset;
using storage::Sample;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

// Three samples: two int32 numbers and a 1 x 3 tensor of bytes each.
class RawTransformTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(
        dataset_, MemoryDataset::Create({.size = 3,
                                         .arrays = {{.name = "pair",
                                                     .dtype = DType::kInt32,
                                                     .shape = {2},
                                                     .data = pairs_.data()},
                                                    {.name = "bytes",
                                                     .shape = {1, 3},
                                                     .data = bytes_.data()}}}));
    ASSERT_OK_AND_ASSIGN(transform_, MakeRawTransform(*dataset_));
  }

  absl::Status Run(const Sample& sample) {
    void* outputs[] = {pair_out_.data(), bytes_out_.data()};
    PhiloxGenerator generator(1, 2, 3);
    return transform_->Run(sample, &generator, transform_->MakeContext().get(),
                           outputs);
  }

  const std::vector<int32_t> pairs_ = {1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> bytes_ = {10, 11, 12, 20, 21, 22, 30, 31, 32};
  std::unique_ptr<MemoryDataset> dataset_;
  std::shared_ptr<const SampleTransform> transform_;
  std::vector<int32_t> pair_out_ = std::vector<int32_t>(2);
  std::vector<uint8_t> bytes_out_ = std::vector<uint8_t>(3);
};

TEST_F(RawTransformTest, OutputsAreTheFields) {
  EXPECT_THAT(
      transform_->outputs(),
      ElementsAre(AllOf(Field(&OutputField::name, "pair"),
                        Field(&OutputField::dtype, DType::kInt32),
                        Field(&OutputField::shape, ElementsAre(2))),
                  AllOf(Field(&OutputField::name, "bytes"),
                        Field(&OutputField::dtype, DType::kUInt8),
                        Field(&OutputField::shape, ElementsAre(1, 3)))));
  EXPECT_EQ(transform_->Describe(), "raw(pair: int32[2], bytes: uint8[1, 3])");
}

TEST_F(RawTransformTest, CopiesEachSample) {
  Sample sample;
  ASSERT_OK(dataset_->Read(2, &sample));
  ASSERT_OK(Run(sample));
  EXPECT_THAT(pair_out_, ElementsAre(5, 6));
  EXPECT_THAT(bytes_out_, ElementsAre(30, 31, 32));
  ASSERT_OK(dataset_->Read(0, &sample));
  ASSERT_OK(Run(sample));
  EXPECT_THAT(pair_out_, ElementsAre(1, 2));
  EXPECT_THAT(bytes_out_, ElementsAre(10, 11, 12));
  EXPECT_EQ(transform_->ScratchBytes(sample), 0);
}

TEST_F(RawTransformTest, SamplesThatAreNotAsDeclaredAreDataLoss) {
  const Descriptor bytes = {.encoded = false, .shape = {1, 3}};
  const Descriptor pair = {
      .encoded = false, .dtype = DType::kInt32, .shape = {2}};
  struct Case {
    std::string bytes;
    Descriptor descriptor;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"1234567", pair, "field pair: int32[2]: want 8 bytes, got 7"},
      {"123456789", pair, "want 8 bytes, got 9"},
      {"12345678",
       {.encoded = false, .dtype = DType::kInt32, .shape = {1, 2}},
       "field pair: int32[2]: the sample has int32[1, 2]"},
      {"12345678",
       {.encoded = false, .dtype = DType::kFloat32, .shape = {2}},
       "the sample has float32[2]"},
      {"12345678", {}, "the sample has an encoded image"},
  };
  for (const Case& c : cases) {
    Sample sample;
    sample.AddField(c.bytes, c.descriptor);
    sample.AddField("abc", bytes);
    EXPECT_THAT(Run(sample),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(c.want)));
  }
  EXPECT_THAT(Run(Sample()), StatusIs(absl::StatusCode::kDataLoss,
                                      HasSubstr("want 2 fields, got 0")));
}

TEST(MakeRawTransformTest, RefusesEncodedImages) {
  ASSERT_OK_AND_ASSIGN(const auto dataset,
                       MemoryDataset::Create({.size = 1, .encoded = {"x"}}));
  EXPECT_THAT(MakeRawTransform(*dataset),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("field image holds encoded images")));
}

}  // namespace
}  // namespace millrace::loader
