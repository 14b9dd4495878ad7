#include "augment/pipeline.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "augment/center_crop.h"
#include "base/philox.h"
#include "base/torch_random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "opencv2/core.hpp"
#include "tests/augment/decode_image.h"
#include "tests/augment/pixel_image.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<std::string> RunOn(const Pipeline& pipeline,
                                  const ImageSource& source,
                                  Generator* generator,
                                  Workspace* workspace = nullptr) {
  Workspace own;
  std::string out(pipeline.output().ByteCount(), '\0');
  const absl::Status status = pipeline.Run(
      source, generator, workspace != nullptr ? workspace : &own, out.data());
  if (!status.ok()) return status;
  return out;
}

absl::StatusOr<std::string> RunOn(const Pipeline& pipeline,
                                  absl::string_view bytes) {
  PhiloxGenerator generator(1, 2, 3);
  return RunOn(pipeline, {.bytes = bytes}, &generator);
}

// Bytes of a pipeline of 8-bit pixels, HWC.
Pipeline BytePipeline(std::vector<Transform> transforms,
                      ColorMode color = ColorMode::kRgb) {
  absl::StatusOr<Pipeline> pipeline = Pipeline::Create(
      std::move(transforms), {.color = color, .layout = Layout::kHWC});
  EXPECT_OK(pipeline);
  return *pipeline;
}

TEST(PipelineCreateTest, RefusesOrdersThatMakeNoSense) {
  const std::vector<std::pair<std::vector<Transform>, std::string>> bad = {
      {{CenterCrop{}, Normalize{}},
       "Normalize(imagenet) without ToTensor before it"},
      {{Normalize{}, CenterCrop{}, ToTensor{}}, "without ToTensor"},
      {{CenterCrop{}, ToTensor{}, RandomHorizontalFlip{}},
       "RandomHorizontalFlip after ToTensor"},
      {{CenterCrop{}, ToTensor{}, ToTensor{}}, "ToTensor after ToTensor"},
      {{}, "different sizes"},
      {{Resize{}, ToTensor{}}, "different sizes"},
      {{RandomHorizontalFlip{}, RandomRotation{}}, "different sizes"},
      {{CenterCrop{.size = 0}}, "CenterCrop: size is 0"}};
  for (const auto& [transforms, message] : bad) {
    EXPECT_THAT(
        Pipeline::Create(transforms),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
  EXPECT_THAT(Pipeline::Create({CenterCrop{.size = 20000}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("CenterCrop(20000)"),
                             HasSubstr("max_pixels (178956970)"))));
  EXPECT_THAT(Pipeline::Create({CenterCrop{}}, {.max_pixels = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("max_pixels is 0")));
}

TEST(PipelineCreateTest, LastTransformOfFixedSizeDecidesTheOutput) {
  ASSERT_OK_AND_ASSIGN(
      const Pipeline pipeline,
      Pipeline::Create({RandomResizedCrop{.size = 10, .width = 20},
                        Resize{.size = 30}, RandomRotation{}}));
  EXPECT_EQ(pipeline.output().height, 30);
  EXPECT_EQ(pipeline.output().width, 60);
  EXPECT_EQ(pipeline.output().dtype, DType::kUInt8);
}

TEST(PipelineCreateTest, OptionsDecideLayoutAndChannels) {
  ASSERT_OK_AND_ASSIGN(
      const Pipeline pipeline,
      Pipeline::Create({CenterCrop{.size = 5, .width = 7}, ToTensor{}},
                       {.color = ColorMode::kGray, .layout = Layout::kHWC}));
  EXPECT_THAT(pipeline.output().shape(), ElementsAre(5, 7, 1));
  EXPECT_EQ(pipeline.output().ByteCount(), 5 * 7 * 4);
  ASSERT_OK_AND_ASSIGN(const Pipeline color,
                       Pipeline::Create({CenterCrop{.size = 5, .width = 7}}));
  EXPECT_THAT(color.output().shape(), ElementsAre(3, 5, 7));
}

TEST(PipelinePresetTest, AreTheUsualThree) {
  ASSERT_OK_AND_ASSIGN(const Pipeline train, Pipeline::Preset("train", 224));
  EXPECT_EQ(train.ToString(),
            "RandomResizedCrop(224)|RandomHorizontalFlip|ToTensor|"
            "Normalize(imagenet)");
  ASSERT_OK_AND_ASSIGN(const Pipeline full, Pipeline::Preset("train_full", 64));
  EXPECT_EQ(full.ToString(),
            "RandomResizedCrop(64)|RandomHorizontalFlip|RandomRotation(10)|"
            "ColorJitter(0.2, 0.2, 0.2)|ToTensor|Normalize(imagenet)");
  ASSERT_OK_AND_ASSIGN(const Pipeline eval, Pipeline::Preset("eval", 64));
  EXPECT_EQ(eval.ToString(),
            "Resize(73)|CenterCrop(64)|ToTensor|Normalize(imagenet)");
  EXPECT_THAT(eval.output().shape(), ElementsAre(3, 64, 64));
  EXPECT_EQ(eval.output().dtype, DType::kFloat32);
}

TEST(PipelinePresetTest, UnknownNameListsTheKnown) {
  EXPECT_THAT(Pipeline::Preset("test", 224),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("\"test\""),
                             HasSubstr("train, train_full and eval"))));
  EXPECT_THAT(
      Pipeline::Preset("eval", 0),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("size is 0")));
}

TEST(PipelineRunTest, RawPixelsNeedNoDecoding) {
  const Pipeline pipeline = BytePipeline({CenterCrop{.size = 4, .width = 5}});
  const PixelImage image = PixelImage::Test(4, 5);
  TorchGenerator generator(0);
  EXPECT_THAT(RunOn(pipeline, {.bytes = image.bytes(), .height = 4, .width = 5},
                    &generator),
              IsOkAndHolds(std::string(image.bytes())));
}

TEST(PipelineRunTest, RawPixelsMustHaveTheirSize) {
  const Pipeline pipeline = BytePipeline({CenterCrop{.size = 4}});
  TorchGenerator generator(0);
  const std::string bytes(48, 'x');
  EXPECT_OK(
      RunOn(pipeline, {.bytes = bytes, .height = 4, .width = 4}, &generator));
  for (const ImageSource& source : std::vector<ImageSource>{
           {.bytes = bytes, .height = 4, .width = 5},
           {.bytes = bytes, .height = 4, .width = 0},
           {.bytes = bytes, .height = -4, .width = -4},
           {.bytes = bytes, .height = 4, .width = 4, .channels = 1},
           {.bytes = bytes, .height = 4, .width = 6, .channels = 2}}) {
    EXPECT_THAT(RunOn(pipeline, source, &generator),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("48 bytes")));
  }
}

TEST(PipelineRunTest, GrayModeGivesOneChannel) {
  const Pipeline gray = BytePipeline({CenterCrop{.size = 8}}, ColorMode::kGray);
  const std::string color_jpeg = TestJpeg(8, 8);
  const std::string gray_jpeg = TestJpeg(8, 8, 0, {.gray = true});
  for (const std::string& jpeg : {color_jpeg, gray_jpeg}) {
    ASSERT_OK_AND_ASSIGN(const PixelImage want, DecodeImage(jpeg, 1));
    EXPECT_THAT(RunOn(gray, jpeg), IsOkAndHolds(std::string(want.bytes())));
  }
}

TEST(PipelineRunTest, GreyImageFillsThreeChannels) {
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline,
                       Pipeline::Create({CenterCrop{.size = 8}}));
  ASSERT_OK_AND_ASSIGN(const std::string out,
                       RunOn(pipeline, TestJpeg(8, 8, 0, {.gray = true})));
  EXPECT_EQ(out.substr(0, 64), out.substr(64, 64));
  EXPECT_EQ(out.substr(0, 64), out.substr(128, 64));
}

// A crop that is drawn before decoding gives what one drawn after it does.
TEST(PipelineRunTest, CropBeforeDecodingEqualsCropAfterIt) {
  const Pipeline first = BytePipeline({RandomResizedCrop{.size = 24}});
  // A flip that never happens comes before the crop: one draw more.
  const Pipeline second = BytePipeline(
      {RandomHorizontalFlip{.p = 0}, RandomResizedCrop{.size = 24}});
  const std::string jpeg =
      TestJpeg(90, 70, 0, {.horizontal_sampling = 2, .vertical_sampling = 2});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    TorchGenerator a(seed);
    TorchGenerator b(seed);
    a.NextU32();
    ASSERT_OK_AND_ASSIGN(const std::string want,
                         RunOn(second, {.bytes = jpeg}, &b));
    EXPECT_THAT(RunOn(first, {.bytes = jpeg}, &a), IsOkAndHolds(want));
  }
}

// Words from a fixed stream, noting each use that is announced.
class NotingGenerator : public Generator {
 public:
  uint32_t NextU32() override { return 0x800000; }
  void StartUse(uint32_t use) override { uses.push_back(use); }

  std::vector<uint32_t> uses;
};

TEST(PipelineRunTest, EachTransformDrawsAsItsPlaceInTheList) {
  const Pipeline pipeline = BytePipeline(
      {RandomResizedCrop{.size = 8}, RandomHorizontalFlip{}, RandomRotation{}});
  NotingGenerator generator;
  ASSERT_OK(RunOn(pipeline, {.bytes = TestJpeg(20, 20)}, &generator));
  EXPECT_THAT(generator.uses, ElementsAre(0, 1, 2));
}

TEST(PipelineRunTest, KeyedDrawsOfOneTransformDontShiftAnothers) {
  // The crop box takes another number of draws for other images; the jitter of
  // a white image shows its own draws alone.
  const Pipeline pipeline = BytePipeline(
      {RandomResizedCrop{.size = 4}, ColorJitter{.brightness = 0.9}});
  std::vector<std::string> outs;
  for (const auto& [height, width] :
       std::vector<std::pair<int, int>>{{30, 30}, {3, 300}, {300, 2}}) {
    const PixelImage white(height, width, 3, 255);
    PhiloxGenerator generator(5, 6, 7);
    ASSERT_OK_AND_ASSIGN(
        const std::string out,
        RunOn(pipeline,
              {.bytes = white.bytes(), .height = height, .width = width},
              &generator));
    outs.push_back(out);
  }
  EXPECT_THAT(outs, Each(outs[0]));
}

TEST(PipelineRunTest, BrokenBytesAreDataLoss) {
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Preset("train", 32));
  const std::string jpeg = TestJpeg(40, 50);
  for (const auto& [bytes, message] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "empty file"},
           {"\xFF\xD8", "too short"},
           {"not an image", "known format"},
           {jpeg.substr(0, jpeg.size() / 2), "truncated"}}) {
    EXPECT_THAT(RunOn(pipeline, bytes),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
  }
  EXPECT_OK(RunOn(pipeline, jpeg));
}

TEST(PipelineRunTest, ClaimedSizeIsCheckedBeforeMemoryIsTaken) {
  std::string jpeg = TestJpeg(16, 16);
  const size_t frame = jpeg.find("\xFF\xC0");
  jpeg.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
  Workspace workspace;
  PhiloxGenerator generator(0, 0, 0);
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Preset("eval", 32));
  EXPECT_THAT(RunOn(pipeline, {.bytes = jpeg}, &generator, &workspace),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("65500 x 65500"),
                             HasSubstr("max_pixels (178956970)"))));
  EXPECT_LT(workspace.ByteCount(), 1000);
}

TEST(PipelineRunTest, PixelLimitIsInclusive) {
  const std::string jpeg = TestJpeg(10, 10);
  ASSERT_OK_AND_ASSIGN(
      const Pipeline enough,
      Pipeline::Create({CenterCrop{.size = 8}}, {.max_pixels = 100}));
  EXPECT_OK(RunOn(enough, jpeg));
  ASSERT_OK_AND_ASSIGN(
      const Pipeline too_few,
      Pipeline::Create({CenterCrop{.size = 8}}, {.max_pixels = 99}));
  EXPECT_THAT(RunOn(too_few, jpeg),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("= 100 pixels")));
}

TEST(PipelineRunTest, ResizeBeyondThePixelLimitIsDataLoss) {
  ASSERT_OK_AND_ASSIGN(
      const Pipeline pipeline,
      Pipeline::Create({Resize{.size = 100}, CenterCrop{.size = 8}},
                       {.max_pixels = 100000}));
  const PixelImage thin = PixelImage::Test(1, 300);
  PhiloxGenerator generator(0, 0, 0);
  EXPECT_THAT(
      RunOn(pipeline, {.bytes = thin.bytes(), .height = 1, .width = 300},
            &generator),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("100 x 30000")));
}

TEST(PipelineRunTest, SmallImagesAreEnlarged) {
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Preset("train", 224));
  EXPECT_OK(RunOn(pipeline, TestJpeg(147, 190)));
  EXPECT_OK(RunOn(pipeline, TestJpeg(1, 1)));
  EXPECT_OK(RunOn(pipeline, TestJpeg(1, 1000)));
}

TEST(PipelineRunTest, FormatIsToldByBytes) {
  const Pipeline pipeline = BytePipeline({CenterCrop{.size = 16}});
  const PixelImage want = PixelImage::Test(16, 16);
  for (const char* suffix : {".png", ".bmp", ".ppm", ".tif"}) {
    EXPECT_THAT(RunOn(pipeline, TestImage(suffix, 16, 16)),
                IsOkAndHolds(std::string(want.bytes())));
  }
}

TEST(PipelineRunTest, SameInputsGiveTheSameBytesInAnyWorkspace) {
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline,
                       Pipeline::Preset("train_full", 32));
  const Pipeline copy = pipeline;
  Workspace workspace;
  std::vector<std::string> images;
  for (int i = 0; i < 5; ++i) {
    images.push_back(TestJpeg(30 + 20 * i, 90 - 10 * i, i));
  }
  for (int round = 0; round < 2; ++round) {
    for (const std::string& image : images) {
      PhiloxGenerator a(1, 0, 4);
      PhiloxGenerator b(1, 0, 4);
      ASSERT_OK_AND_ASSIGN(const std::string want,
                           RunOn(pipeline, {.bytes = image}, &a));
      EXPECT_THAT(RunOn(copy, {.bytes = image}, &b, &workspace),
                  IsOkAndHolds(want));
    }
  }
}

TEST(PipelineCustomTest, ChangesTheImageInPlace) {
  const Pipeline pipeline = BytePipeline(
      {CenterCrop{.size = 3},
       Custom{.name = "Fill", .apply = [](cv::Mat* image, Generator*) {
                EXPECT_EQ(image->type(), CV_8UC3);
                image->setTo(cv::Scalar(1, 2, 3));
              }}});
  ASSERT_OK_AND_ASSIGN(const std::string out,
                       RunOn(pipeline, TestImage(".png", 5, 5)));
  EXPECT_EQ(out.substr(0, 6), "\1\2\3\1\2\3");
}

TEST(PipelineCustomTest, MayReplaceTheImageByOneOfAnotherSize) {
  const Pipeline pipeline = BytePipeline(
      {Custom{.name = "Grow",
              .apply =
                  [](cv::Mat* image, Generator*) {
                    *image = cv::Mat(9, 30, CV_8UC3, cv::Scalar(7, 8, 9));
                  }},
       CenterCrop{.size = 2}});
  EXPECT_THAT(RunOn(pipeline, TestImage(".png", 5, 5)),
              IsOkAndHolds("\7\x8\x9\7\x8\x9\7\x8\x9\7\x8\x9"));
}

TEST(PipelineCustomTest, DrawsFromTheGeneratorAsItsUse) {
  const Pipeline pipeline = BytePipeline(
      {CenterCrop{.size = 1},
       Custom{.name = "Noise", .apply = [](cv::Mat* image, Generator* g) {
                image->setTo(cv::Scalar::all(g->RandInt(256)));
              }}});
  PhiloxGenerator generator(1, 2, 3);
  generator.StartUse(1);
  const char want = static_cast<char>(generator.RandInt(256));
  EXPECT_THAT(RunOn(pipeline, TestImage(".png", 5, 5)),
              IsOkAndHolds(std::string(3, want)));
}

TEST(PipelineCustomTest, FailuresAreErrorsOfTheSample) {
  const auto run = [](std::function<void(cv::Mat*, Generator*)> apply) {
    return RunOn(
        BytePipeline({CenterCrop{.size = 4},
                      Custom{.name = "Mine(3)", .apply = std::move(apply)}}),
        TestImage(".png", 5, 5));
  };
  const auto fails_with = [](const std::string& message) {
    return StatusIs(absl::StatusCode::kDataLoss,
                    AllOf(HasSubstr("Mine(3)"), HasSubstr(message)));
  };
  EXPECT_THAT(run([](cv::Mat* image, Generator*) {
                cv::Mat part = (*image)(cv::Rect(0, 0, 100, 1));
              }),
              fails_with("roi"));
  EXPECT_THAT(
      run([](cv::Mat*, Generator*) { throw std::runtime_error("no luck"); }),
      fails_with("no luck"));
  EXPECT_THAT(run([](cv::Mat*, Generator*) { throw 5; }),
              fails_with("exception"));
  EXPECT_THAT(run([](cv::Mat* image, Generator*) { image->release(); }),
              fails_with("no 8-bit image of 3 channels"));
  EXPECT_THAT(
      run([](cv::Mat* image, Generator*) { *image = cv::Mat(4, 4, CV_32FC3); }),
      fails_with("no 8-bit image"));
  EXPECT_THAT(run([](cv::Mat* image, Generator*) {
                *image = cv::Mat(4, 7, CV_8UC3, cv::Scalar(0));
              }),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("4 x 7 pixels, want 4 x 4")));
}

TEST(WorkspaceTest, MemoryGrowsToWhatImagesNeedAndStays) {
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Preset("eval", 32));
  Workspace workspace;
  PhiloxGenerator generator(0, 0, 0);
  const auto run_both = [&] {
    for (const std::string& jpeg : {TestJpeg(200, 300), TestJpeg(100, 90)}) {
      EXPECT_OK(RunOn(pipeline, {.bytes = jpeg}, &generator, &workspace));
    }
    return workspace.ByteCount();
  };
  const int64_t bytes = run_both();
  EXPECT_GE(bytes, 200 * 300 * 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run_both(), bytes);
}

TEST(WorkspaceTest, TakesTimesOnce) {
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Preset("train", 64));
  Workspace workspace;
  PhiloxGenerator generator(0, 0, 0);
  ASSERT_OK(
      RunOn(pipeline, {.bytes = TestJpeg(200, 300)}, &generator, &workspace));
  const Workspace::Times times = workspace.TakeTimes();
  EXPECT_GT(times.decode_ns, 0);
  EXPECT_GT(times.transform_ns, 0);
  EXPECT_EQ(workspace.TakeTimes().decode_ns, 0);
}

TEST(PipelineScratchBytesTest, IsJudgedByTheHeader) {
  ASSERT_OK_AND_ASSIGN(const Pipeline pipeline, Pipeline::Preset("eval", 32));
  const std::string jpeg = TestJpeg(200, 300);
  Workspace workspace;
  PhiloxGenerator generator(0, 0, 0);
  ASSERT_OK(RunOn(pipeline, {.bytes = jpeg}, &generator, &workspace));
  const int64_t judged = pipeline.ScratchBytes({.bytes = jpeg.substr(0, 700)});
  EXPECT_GE(judged, 200 * 300 * 3);
  EXPECT_LE(judged, 2 * workspace.ByteCount());
  EXPECT_EQ(pipeline.ScratchBytes({.bytes = "rubbish"}), 0);
  EXPECT_EQ(pipeline.ScratchBytes({}), 0);
}

TEST(PipelineHashTest, CoversTransformsAndOptions) {
  const std::vector<Transform> transforms = {CenterCrop{.size = 8}, ToTensor{}};
  const auto hash = [](const std::vector<Transform>& list,
                       const PipelineOptions& options = {}) {
    return Pipeline::Create(list, options)->hash().ToHex();
  };
  EXPECT_EQ(hash(transforms), hash(transforms));
  EXPECT_NE(hash(transforms), hash({CenterCrop{.size = 8}}));
  EXPECT_NE(hash(transforms), hash({CenterCrop{.size = 9}, ToTensor{}}));
  EXPECT_NE(hash(transforms), hash(transforms, {.color = ColorMode::kGray}));
  EXPECT_NE(hash(transforms), hash(transforms, {.layout = Layout::kHWC}));
  EXPECT_NE(hash(transforms), hash(transforms, {.max_pixels = 500}));
}

}  // namespace
}  // namespace millrace::augment
