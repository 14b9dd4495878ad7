#ifndef MILLRACE_AUGMENT_JPEG_JPEG_MARKERS_H_
#define MILLRACE_AUGMENT_JPEG_JPEG_MARKERS_H_

// The structure of a JPEG file, read without decoding anything:
//
//   SOI  segment...  SOF  segment...  SOS  entropy-coded bytes  ...  EOI
//
// Everything here stops at the first EOI, so that a second picture behind it
// (MPO) or garbage is not looked at.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace millrace::augment {

inline constexpr uint8_t kJpegSos = 0xDA;
inline constexpr uint8_t kJpegEoi = 0xD9;

// Walks the marker segments of a JPEG.
//
// Confined to one thread.
class JpegMarkerReader {
 public:
  struct Segment {
    // Second byte of the marker: 0xDA for SOS.
    uint8_t marker = 0;
    // What follows the length field; empty for markers without one.
    absl::string_view payload;
  };

  // `bytes` must outlive this. REQUIRES: they begin with FF D8.
  explicit JpegMarkerReader(absl::string_view bytes)
      : bytes_(bytes), position_(2) {}

  // The next segment, after skipping entropy-coded bytes, restart markers and,
  // as libjpeg does, garbage between segments; empty where the bytes end before
  // another marker. DataLoss: a segment that reaches beyond the end
  // ("truncated"), or a length that no segment can have.
  absl::StatusOr<std::optional<Segment>> Next();

 private:
  absl::string_view bytes_;
  size_t position_;
};

// The frame header (SOF): what the file says about the image.
struct JpegFrame {
  struct Component {
    uint8_t id = 0;
    uint8_t horizontal_sampling = 1;
    uint8_t vertical_sampling = 1;
  };

  // Second byte of the SOF marker: 0xC0 baseline, 0xC2 progressive, 0xC9
  // arithmetic, ...
  uint8_t sof = 0;
  int height = 0;
  int width = 0;
  int component_count = 0;
  std::array<Component, 4> components;
};

// DataLoss: no frame header before the first scan or the end, one with an image
// of no pixels, or with a number of components other than 1, 3 and 4.
// REQUIRES: `bytes` begin with FF D8.
absl::StatusOr<JpegFrame> ReadJpegFrame(absl::string_view bytes);

enum class JpegEnd {
  // There is an EOI, and a scan of every component before it.
  kComplete,
  // The bytes end inside or behind entropy-coded data: it takes decoding to
  // know whether only the EOI is missing.
  kNoEndMarker,
};

// DataLoss: truncated before or between scans, or no scan of some component.
// REQUIRES: `bytes` begin with FF D8. Cost: a scan for 0xFF.
absl::StatusOr<JpegEnd> FindJpegEnd(absl::string_view bytes,
                                    const JpegFrame& frame);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_JPEG_JPEG_MARKERS_H_
