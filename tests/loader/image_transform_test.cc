#include "loader/image_transform.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "augment/pipeline.h"
#include "base/philox.h"
#include "base/tensor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/dataset.h"
#include "storage/memory_dataset.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"

namespace millrace::loader {
namespace {

using augment::Pipeline;
using storage::ArrayField;
using storage::Descriptor;
using storage::FieldSpec;
using storage::MemoryDataset;
using storage::Sample;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

Pipeline MakePipeline(int size) {
  absl::StatusOr<Pipeline> pipeline = Pipeline::Create(
      {augment::RandomResizedCrop{.size = size}, augment::ToTensor{}});
  EXPECT_OK(pipeline);
  return *std::move(pipeline);
}

// Two 6 x 8 pictures as a raw array, and a 2 x 2 mask of floats beside each.
class RawImages {
 public:
  RawImages() {
    for (int seed = 0; seed < 2; ++seed) {
      const std::vector<uint8_t> one = TestPixels(6, 8, seed);
      pixels_.insert(pixels_.end(), one.begin(), one.end());
    }
  }

  std::unique_ptr<MemoryDataset> Make() const {
    absl::StatusOr<std::unique_ptr<MemoryDataset>> dataset =
        MemoryDataset::Create({.size = 2,
                               .arrays = {{.name = "picture",
                                           .dtype = DType::kUInt8,
                                           .shape = {6, 8, 3},
                                           .data = pixels_.data()},
                                          {.name = "mask",
                                           .dtype = DType::kFloat32,
                                           .shape = {2, 2},
                                           .data = mask_.data()}}});
    EXPECT_OK(dataset);
    return *std::move(dataset);
  }

 private:
  std::vector<uint8_t> pixels_;
  std::vector<float> mask_ = {1, 2, 3, 4, 5, 6, 7, 8};
};

std::unique_ptr<MemoryDataset> EncodedImages(std::vector<std::string> encoded) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  absl::StatusOr<std::unique_ptr<MemoryDataset>> dataset =
      MemoryDataset::Create({.size = size, .encoded = std::move(encoded)});
  EXPECT_OK(dataset);
  return *std::move(dataset);
}

// What the pipeline itself makes of `source`.
std::vector<float> RunPipeline(const Pipeline& pipeline,
                               const augment::ImageSource& source) {
  std::vector<float> out(pipeline.output().ByteCount() / sizeof(float));
  PhiloxGenerator generator(1, 2, 3);
  augment::Workspace workspace;
  EXPECT_OK(pipeline.Run(source, &generator, &workspace, out.data()));
  return out;
}

// A data set of one sample without labels, whose fields are the test's.
class OneSample : public storage::Dataset {
 public:
  OneSample(std::vector<FieldSpec> specs, std::string bytes,
            Descriptor descriptor)
      : specs_(std::move(specs)),
        bytes_(std::move(bytes)),
        descriptor_(std::move(descriptor)) {}

  int64_t size() const override { return 1; }
  const std::vector<FieldSpec>& fields() const override { return specs_; }
  Hash128 fingerprint() const override { return {}; }
  absl::Status Read(int64_t, Sample* sample) const override {
    sample->Clear();
    sample->AddField(bytes_, descriptor_);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Key(int64_t) const override { return "0"; }
  std::string Describe() const override { return "one"; }

 private:
  std::vector<FieldSpec> specs_;
  std::string bytes_;
  Descriptor descriptor_;
};

TEST(ImageTransformTest, OutputIsThePipelines) {
  ASSERT_OK_AND_ASSIGN(
      const auto transform,
      MakeImageTransform(*EncodedImages({"x"}), MakePipeline(8)));
  EXPECT_THAT(
      transform->outputs(),
      ElementsAre(AllOf(Field(&OutputField::name, "image"),
                        Field(&OutputField::dtype, DType::kFloat32),
                        Field(&OutputField::shape, ElementsAre(3, 8, 8)))));
}

TEST(ImageTransformTest, GivesThePipelinesPixels) {
  const auto dataset = EncodedImages({TestJpeg(40, 50), TestJpeg(30, 20, 5)});
  const Pipeline pipeline = MakePipeline(8);
  ASSERT_OK_AND_ASSIGN(const auto transform,
                       MakeImageTransform(*dataset, pipeline));
  const std::unique_ptr<SampleTransform::Context> context =
      transform->MakeContext();
  for (int64_t i = 0; i < 2; ++i) {
    Sample sample;
    ASSERT_OK(dataset->Read(i, &sample));
    std::vector<float> out(3 * 8 * 8);
    void* outputs[] = {out.data()};
    PhiloxGenerator generator(1, 2, 3);
    ASSERT_OK(transform->Run(sample, &generator, context.get(), outputs));
    EXPECT_EQ(out, RunPipeline(pipeline, {.bytes = sample.fields()[0].bytes}));
  }
}

TEST(ImageTransformTest, TellsDecodingTimeOnce) {
  const auto dataset = EncodedImages({TestJpeg(200, 200)});
  ASSERT_OK_AND_ASSIGN(const auto transform,
                       MakeImageTransform(*dataset, MakePipeline(8)));
  const std::unique_ptr<SampleTransform::Context> context =
      transform->MakeContext();
  Sample sample;
  ASSERT_OK(dataset->Read(0, &sample));
  std::vector<float> out(3 * 8 * 8);
  void* outputs[] = {out.data()};
  PhiloxGenerator generator(1, 2, 3);
  ASSERT_OK(transform->Run(sample, &generator, context.get(), outputs));
  EXPECT_GT(context->TakeDecodeNanoseconds(), 0);
  EXPECT_EQ(context->TakeDecodeNanoseconds(), 0);
}

TEST(ImageTransformTest, RawImagesSkipDecodingAndFurtherFieldsAreCopied) {
  const RawImages images;
  const auto dataset = images.Make();
  const Pipeline pipeline = MakePipeline(4);
  ASSERT_OK_AND_ASSIGN(const auto transform,
                       MakeImageTransform(*dataset, pipeline));
  EXPECT_THAT(
      transform->outputs(),
      ElementsAre(AllOf(Field(&OutputField::name, "picture"),
                        Field(&OutputField::dtype, DType::kFloat32),
                        Field(&OutputField::shape, ElementsAre(3, 4, 4))),
                  AllOf(Field(&OutputField::name, "mask"),
                        Field(&OutputField::dtype, DType::kFloat32),
                        Field(&OutputField::shape, ElementsAre(2, 2)))));
  Sample sample;
  ASSERT_OK(dataset->Read(1, &sample));
  std::vector<float> out(3 * 4 * 4);
  std::vector<float> mask(4);
  void* outputs[] = {out.data(), mask.data()};
  PhiloxGenerator generator(1, 2, 3);
  const auto context = transform->MakeContext();
  ASSERT_OK(transform->Run(sample, &generator, context.get(), outputs));
  EXPECT_EQ(out, RunPipeline(pipeline, {.bytes = sample.fields()[0].bytes,
                                        .height = 6,
                                        .width = 8,
                                        .channels = 3}));
  EXPECT_THAT(mask, ElementsAre(5, 6, 7, 8));
}

TEST(ImageTransformTest, TwoDimensionalArraysAreGrayImages) {
  const std::vector<uint8_t> gray(6 * 8, 51);
  ASSERT_OK_AND_ASSIGN(
      const auto dataset,
      MemoryDataset::Create(
          {.size = 1,
           .arrays = {
               {.name = "image", .shape = {6, 8}, .data = gray.data()}}}));
  ASSERT_OK_AND_ASSIGN(const auto transform,
                       MakeImageTransform(*dataset, MakePipeline(4)));
  Sample sample;
  ASSERT_OK(dataset->Read(0, &sample));
  std::vector<float> out(3 * 4 * 4);
  void* outputs[] = {out.data()};
  PhiloxGenerator generator(1, 2, 3);
  const auto context = transform->MakeContext();
  ASSERT_OK(transform->Run(sample, &generator, context.get(), outputs));
  EXPECT_EQ(out, std::vector<float>(3 * 4 * 4, 51 / 255.0f));
}

TEST(ImageTransformTest, RefusesFirstFieldsThatAreNoImages) {
  const std::vector<float> numbers(12);
  struct Case {
    ArrayField field;
    const char* want;
  };
  const std::vector<Case> cases = {
      {{.name = "depth", .dtype = DType::kFloat32, .shape = {2, 2, 3}},
       "field depth is no image: images are uint8, not float32"},
      {{.name = "video", .shape = {1, 2, 2, 3}}, "not [1, 2, 2, 3]"},
      {{.name = "rgba", .shape = {1, 3, 4}}, "not [1, 3, 4]"},
      {{.name = "line", .shape = {12}}, "not [12]"},
      {{.name = "chw", .shape = {3, 2, 2}, .layout = Layout::kCHW},
       "field chw is no image: images have their channels last"},
  };
  for (Case c : cases) {
    c.field.data = numbers.data();
    ASSERT_OK_AND_ASSIGN(
        const auto dataset,
        MemoryDataset::Create({.size = 1, .arrays = {c.field}}));
    EXPECT_THAT(
        MakeImageTransform(*dataset, MakePipeline(4)),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.want)));
  }
}

TEST(ImageTransformTest, RefusesFurtherFieldsWithoutFixedShape) {
  const FieldSpec image = {.name = "image"};
  const FieldSpec boxes = {
      .name = "boxes",
      .descriptor = {.encoded = false, .dtype = DType::kFloat32}};
  EXPECT_THAT(
      MakeImageTransform(OneSample({image, boxes}, "", {}), MakePipeline(4)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("field boxes has no fixed shape")));
  EXPECT_THAT(MakeImageTransform(OneSample({image, {.name = "second"}}, "", {}),
                                 MakePipeline(4)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("field second holds encoded images")));
  EXPECT_THAT(
      MakeImageTransform(OneSample({}, "", {}), MakePipeline(4)),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no fields")));
}

TEST(ImageTransformTest, SamplesThatAreNotAsDeclaredAreDataLoss) {
  const std::vector<FieldSpec> specs = {
      {.name = "image", .descriptor = {.encoded = false}}};
  const std::vector<std::pair<Descriptor, const char*>> cases = {
      {{.encoded = false, .shape = {2, 2, 3}}, "want 12 bytes, got 11"},
      {{.encoded = false}, "raw image []"},
      {{.encoded = false, .dtype = DType::kInt32, .shape = {2, 2, 3}}, "int32"},
      {{.encoded = false, .shape = {-1, 2, 3}}, "not [-1, 2, 3]"},
      {{.encoded = true}, ""},
  };
  for (const auto& [descriptor, want] : cases) {
    const OneSample dataset(specs, std::string(11, 'x'), descriptor);
    ASSERT_OK_AND_ASSIGN(const auto transform,
                         MakeImageTransform(dataset, MakePipeline(4)));
    Sample sample;
    ASSERT_OK(dataset.Read(0, &sample));
    std::vector<float> out(3 * 4 * 4);
    void* outputs[] = {out.data()};
    PhiloxGenerator generator(1, 2, 3);
    const auto context = transform->MakeContext();
    EXPECT_THAT(transform->Run(sample, &generator, context.get(), outputs),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(want)));
    EXPECT_GE(transform->ScratchBytes(sample), 0);
  }
}

TEST(ImageTransformTest, MissingFieldsAreDataLoss) {
  const RawImages images;
  ASSERT_OK_AND_ASSIGN(const auto transform,
                       MakeImageTransform(*images.Make(), MakePipeline(4)));
  Sample sample;
  std::vector<float> out(3 * 4 * 4);
  void* outputs[] = {out.data(), out.data()};
  PhiloxGenerator generator(1, 2, 3);
  const auto context = transform->MakeContext();
  EXPECT_THAT(
      transform->Run(sample, &generator, context.get(), outputs),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("want 2 fields, got 0")));
  EXPECT_EQ(transform->ScratchBytes(sample), 0);
}

TEST(ImageTransformTest, ScratchIsThePipelines) {
  const auto dataset = EncodedImages({TestJpeg(300, 400)});
  const Pipeline pipeline = MakePipeline(8);
  ASSERT_OK_AND_ASSIGN(const auto transform,
                       MakeImageTransform(*dataset, pipeline));
  Sample sample;
  ASSERT_OK(dataset->Read(0, &sample));
  EXPECT_EQ(transform->ScratchBytes(sample),
            pipeline.ScratchBytes({.bytes = sample.fields()[0].bytes}));
  EXPECT_GT(transform->ScratchBytes(sample), 0);
}

TEST(ImageTransformTest, DescriptionTellsPipelineOptionsAndFields) {
  const RawImages images;
  const Pipeline pipeline = MakePipeline(4);
  ASSERT_OK_AND_ASSIGN(const auto transform,
                       MakeImageTransform(*images.Make(), pipeline));
  EXPECT_EQ(transform->Describe(),
            absl::StrCat("image(picture: ", pipeline.ToString(), ", ",
                         pipeline.hash().ToHex(), ", mask: float32[2, 2])"));
}

}  // namespace
}  // namespace millrace::loader
