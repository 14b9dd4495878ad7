#include "augment/jpeg/jpeg_markers.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/images.h"
#include "tests/support/status_matchers.h"

namespace millrace::augment {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Markers in the order in which the reader gives them.
std::vector<int> MarkersOf(absl::string_view bytes) {
  std::vector<int> markers;
  JpegMarkerReader reader(bytes);
  while (true) {
    const auto segment = reader.Next();
    EXPECT_OK(segment);
    if (!segment.ok() || !segment->has_value()) return markers;
    markers.push_back((*segment)->marker);
  }
}

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes.push_back(static_cast<char>(value));
  return bytes;
}

TEST(JpegMarkerReaderTest, GivesSegmentsAndSkipsEntropyCodedBytes) {
  const std::string bytes =
      Bytes({0xFF, 0xD8, 0xFF, 0xFE, 0,    3,    'x',        // a comment
             0xFF, 0xDA, 0,    2,                            // a scan
             1,    0xFF, 0,    0xFF, 0xD0, 0xFF, 0xD7, 200,  // its data
             0xFF, 0xFF, 0xFF, 0xD9, 0xFF, 0xD8});
  EXPECT_THAT(MarkersOf(bytes.substr(0, bytes.size() - 2)),
              ElementsAre(0xFE, kJpegSos, kJpegEoi));
  JpegMarkerReader reader(bytes);
  ASSERT_OK_AND_ASSIGN(const auto comment, reader.Next());
  EXPECT_EQ(comment->payload, "x");
}

TEST(JpegMarkerReaderTest, SkipsGarbageBetweenSegments) {
  EXPECT_THAT(
      MarkersOf(Bytes({0xFF, 0xD8, 1, 2, 0xFF, 0xFE, 0, 2, 9, 0xFF, 0xD9})),
      ElementsAre(0xFE, kJpegEoi));
}

TEST(JpegMarkerReaderTest, SegmentBehindTheEndIsTruncated) {
  const std::string bytes = Bytes({0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 'x'});
  for (size_t size = 4; size <= bytes.size(); ++size) {
    JpegMarkerReader reader(absl::string_view(bytes).substr(0, size));
    EXPECT_THAT(reader.Next(),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("truncated"), HasSubstr("FFFE"))));
  }
}

TEST(JpegMarkerReaderTest, LengthBelowTwoIsDamage) {
  const std::string bytes = Bytes({0xFF, 0xD8, 0xFF, 0xFE, 0, 1, 0, 0});
  JpegMarkerReader reader(bytes);
  EXPECT_THAT(reader.Next(), StatusIs(absl::StatusCode::kDataLoss,
                                      HasSubstr("length 1 of segment FFFE")));
}

TEST(JpegMarkerReaderTest, EndsWhereBytesEnd) {
  EXPECT_THAT(MarkersOf(Bytes({0xFF, 0xD8})), ElementsAre());
  EXPECT_THAT(MarkersOf(Bytes({0xFF, 0xD8, 0xFF})), ElementsAre());
  EXPECT_THAT(MarkersOf(Bytes({0xFF, 0xD8, 0xFF, 0xFF})), ElementsAre());
}

TEST(ReadJpegFrameTest, ReadsSizeAndSampling) {
  ASSERT_OK_AND_ASSIGN(
      const JpegFrame frame,
      ReadJpegFrame(TestJpeg(
          37, 53, 0, {.horizontal_sampling = 2, .vertical_sampling = 1})));
  EXPECT_EQ(frame.sof, 0xC0);
  EXPECT_EQ(frame.height, 37);
  EXPECT_EQ(frame.width, 53);
  EXPECT_EQ(frame.component_count, 3);
  EXPECT_EQ(frame.components[0].horizontal_sampling, 2);
  EXPECT_EQ(frame.components[0].vertical_sampling, 1);
  EXPECT_EQ(frame.components[2].horizontal_sampling, 1);
}

TEST(ReadJpegFrameTest, TellsProgressiveAndGrey) {
  ASSERT_OK_AND_ASSIGN(
      const JpegFrame frame,
      ReadJpegFrame(TestJpeg(8, 8, 0, {.progressive = true, .gray = true})));
  EXPECT_EQ(frame.sof, 0xC2);
  EXPECT_EQ(frame.component_count, 1);
}

// SOI and a frame header of one component.
std::string FrameHeader(int height, int width, int components) {
  std::string bytes =
      Bytes({0xFF, 0xD8, 0xFF, 0xC0, 0, 8 + 3 * components, 8, height >> 8,
             height & 255, width >> 8, width & 255, components});
  for (int i = 0; i < components; ++i) bytes += Bytes({i, 0x11, 0});
  return bytes;
}

TEST(ReadJpegFrameTest, RefusesImpossibleFrames) {
  EXPECT_OK(ReadJpegFrame(FrameHeader(65500, 1, 1)));
  EXPECT_THAT(ReadJpegFrame(FrameHeader(0, 5, 3)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("0 x 5")));
  EXPECT_THAT(ReadJpegFrame(FrameHeader(5, 0, 3)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("5 x 0")));
  for (const int components : {0, 2, 5}) {
    EXPECT_THAT(ReadJpegFrame(FrameHeader(5, 5, components)),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("components")));
  }
}

TEST(ReadJpegFrameTest, NeedsAFrameBeforeTheFirstScan) {
  EXPECT_THAT(
      ReadJpegFrame(Bytes({0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 1, 0xFF, 0xD9})),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no frame header")));
  EXPECT_THAT(
      ReadJpegFrame(Bytes({0xFF, 0xD8, 0xFF})),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("truncated JPEG")));
}

TEST(FindJpegEndTest, TellsWhetherThereIsAnEndMarker) {
  const std::string jpeg = TestJpeg(20, 30);
  ASSERT_OK_AND_ASSIGN(const JpegFrame frame, ReadJpegFrame(jpeg));
  EXPECT_THAT(FindJpegEnd(jpeg, frame), IsOkAndHolds(JpegEnd::kComplete));
  EXPECT_THAT(FindJpegEnd(jpeg + "garbage \xFF\xC4", frame),
              IsOkAndHolds(JpegEnd::kComplete));
  EXPECT_THAT(FindJpegEnd(jpeg.substr(0, jpeg.size() - 2), frame),
              IsOkAndHolds(JpegEnd::kNoEndMarker));
}

TEST(FindJpegEndTest, MissesScansOfComponents) {
  // A progressive file begins with a scan of all components, so only the place
  // before it has none.
  const std::string jpeg = TestJpeg(20, 30, 0, {.progressive = true});
  ASSERT_OK_AND_ASSIGN(const JpegFrame frame, ReadJpegFrame(jpeg));
  const std::string headers = jpeg.substr(0, jpeg.find("\xFF\xDA"));
  EXPECT_THAT(FindJpegEnd(headers, frame),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no scan")));
  EXPECT_THAT(FindJpegEnd(headers + "\xFF\xD9", frame),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no scan")));
}

}  // namespace
}  // namespace millrace::augment
