#include "augment/jpeg/jpeg_markers.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

using Segment = JpegMarkerReader::Segment;

uint8_t ByteAt(absl::string_view bytes, size_t i) {
  return static_cast<uint8_t>(bytes[i]);
}

int BigEndian16(absl::string_view bytes, size_t i) {
  return ByteAt(bytes, i) << 8 | ByteAt(bytes, i + 1);
}

// SOF0 to SOF15 without DHT, JPG and DAC, which share their range.
bool IsFrameHeader(uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
         marker != 0xCC;
}

bool IsRestart(uint8_t marker) { return marker >= 0xD0 && marker <= 0xD7; }

// TEM, and SOI where none belongs.
bool HasNoPayload(uint8_t marker) { return marker == 0x01 || marker == 0xD8; }

absl::StatusOr<JpegFrame> ParseFrame(const Segment& segment) {
  const absl::string_view payload = segment.payload;
  if (payload.size() < 6) {
    return absl::DataLossError(absl::StrCat("damaged JPEG: frame header of ",
                                            payload.size(), " bytes"));
  }
  JpegFrame frame;
  frame.sof = segment.marker;
  frame.height = BigEndian16(payload, 1);
  frame.width = BigEndian16(payload, 3);
  frame.component_count = ByteAt(payload, 5);
  if (frame.height == 0 || frame.width == 0) {
    return absl::DataLossError(absl::StrCat("damaged JPEG: an image of ",
                                            frame.height, " x ", frame.width,
                                            " pixels"));
  }
  const int count = frame.component_count;
  if (count != 1 && count != 3 && count != 4) {
    return absl::DataLossError(absl::StrCat(
        "a JPEG of ", count, " components is not supported: only 1, 3 or 4"));
  }
  if (payload.size() < 6 + 3 * static_cast<size_t>(count)) {
    return absl::DataLossError(absl::StrCat("damaged JPEG: frame header of ",
                                            payload.size(), " bytes for ",
                                            count, " components"));
  }
  for (int i = 0; i < count; ++i) {
    JpegFrame::Component& component = frame.components[i];
    component.id = ByteAt(payload, 6 + 3 * i);
    component.horizontal_sampling = ByteAt(payload, 7 + 3 * i) >> 4;
    component.vertical_sampling = ByteAt(payload, 7 + 3 * i) & 15;
  }
  return frame;
}

// Bit i for each component i of the frame that the scan header names.
int ComponentsOfScan(const Segment& segment, const JpegFrame& frame) {
  const absl::string_view payload = segment.payload;
  if (payload.empty()) return 0;
  const size_t count = ByteAt(payload, 0);
  int seen = 0;
  for (size_t k = 0; k < count && 2 + 2 * k < payload.size(); ++k) {
    for (int i = 0; i < frame.component_count; ++i) {
      if (frame.components[i].id == ByteAt(payload, 1 + 2 * k)) seen |= 1 << i;
    }
  }
  return seen;
}

}  // namespace

absl::StatusOr<std::optional<Segment>> JpegMarkerReader::Next() {
  while (position_ + 1 < bytes_.size()) {
    const void* found = std::memchr(bytes_.data() + position_, 0xFF,
                                    bytes_.size() - 1 - position_);
    if (found == nullptr) break;
    position_ = static_cast<const char*>(found) - bytes_.data() + 1;
    const uint8_t marker = ByteAt(bytes_, position_);
    // 0xFF may be repeated before a marker, and stands for itself before 0.
    if (marker == 0xFF) continue;
    ++position_;
    if (marker == 0 || IsRestart(marker)) continue;
    if (marker == kJpegEoi || HasNoPayload(marker)) {
      return Segment{marker, absl::string_view()};
    }
    const size_t left = bytes_.size() - position_;
    const size_t length = left < 2 ? 2 : BigEndian16(bytes_, position_);
    if (length < 2) {
      return absl::DataLossError(
          absl::StrFormat("damaged JPEG: length %d of segment FF%02X at byte "
                          "%d",
                          length, marker, position_ - 2));
    }
    if (left < length) {
      return absl::DataLossError(
          absl::StrFormat("truncated JPEG: the rest of segment FF%02X at byte "
                          "%d missing behind "
                          "byte %d",
                          marker, position_ - 2, bytes_.size()));
    }
    const absl::string_view payload = bytes_.substr(position_ + 2, length - 2);
    position_ += length;
    return Segment{marker, payload};
  }
  return std::nullopt;
}

absl::StatusOr<JpegFrame> ReadJpegFrame(absl::string_view bytes) {
  JpegMarkerReader reader(bytes);
  while (true) {
    MILLRACE_ASSIGN_OR_RETURN(const std::optional<Segment> segment,
                              reader.Next());
    if (!segment.has_value()) {
      return absl::DataLossError(absl::StrCat(
          "truncated JPEG: no frame header in ", bytes.size(), " bytes"));
    }
    if (IsFrameHeader(segment->marker)) return ParseFrame(*segment);
    if (segment->marker == kJpegSos || segment->marker == kJpegEoi) {
      return absl::DataLossError("damaged JPEG: no frame header");
    }
  }
}

absl::StatusOr<JpegEnd> FindJpegEnd(absl::string_view bytes,
                                    const JpegFrame& frame) {
  JpegMarkerReader reader(bytes);
  int seen = 0;
  while (true) {
    MILLRACE_ASSIGN_OR_RETURN(const std::optional<Segment> segment,
                              reader.Next());
    const bool at_end = !segment.has_value() || segment->marker == kJpegEoi;
    if (at_end && seen != (1 << frame.component_count) - 1) {
      return absl::DataLossError(absl::StrCat(
          "truncated JPEG: no scan of some of its ", frame.component_count,
          " components in ", bytes.size(), " bytes"));
    }
    if (!segment.has_value()) return JpegEnd::kNoEndMarker;
    if (segment->marker == kJpegEoi) return JpegEnd::kComplete;
    if (segment->marker == kJpegSos) seen |= ComponentsOfScan(*segment, frame);
  }
}

}  // namespace millrace::augment
