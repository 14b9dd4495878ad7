#include "augment/image_header.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "augment/image.h"
#include "augment/jpeg/jpeg_markers.h"
#include "augment/pnm_header.h"
#include "augment/tiff_header.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

uint32_t ByteAt(absl::string_view bytes, size_t i) {
  return static_cast<uint8_t>(bytes[i]);
}

uint32_t Little16(absl::string_view bytes, size_t i) {
  return ByteAt(bytes, i) | ByteAt(bytes, i + 1) << 8;
}

uint32_t Little24(absl::string_view bytes, size_t i) {
  return Little16(bytes, i) | ByteAt(bytes, i + 2) << 16;
}

uint32_t Little32(absl::string_view bytes, size_t i) {
  return Little16(bytes, i) | Little16(bytes, i + 2) << 16;
}

uint32_t Big32(absl::string_view bytes, size_t i) {
  return ByteAt(bytes, i) << 24 | ByteAt(bytes, i + 1) << 16 |
         ByteAt(bytes, i + 2) << 8 | ByteAt(bytes, i + 3);
}

absl::Status Truncated(ImageFormat format, size_t size) {
  return absl::DataLossError(absl::StrCat(
      "truncated ", Name(format), ": header cut off after ", size, " bytes"));
}

// A header with the memory that OpenCV needs: the whole image.
absl::StatusOr<ImageHeader> MakeHeader(ImageFormat format, int64_t height,
                                       int64_t width, int channels) {
  if (height <= 0 || width <= 0 || height > kMaxImageSide ||
      width > kMaxImageSide) {
    return absl::DataLossError(absl::StrCat("damaged ", Name(format),
                                            ": an image of ", height, " x ",
                                            width, " pixels"));
  }
  return ImageHeader{format, static_cast<int>(height), static_cast<int>(width),
                     channels, height * width * 3};
}

absl::StatusOr<ImageHeader> ReadJpeg(absl::string_view bytes) {
  MILLRACE_ASSIGN_OR_RETURN(const JpegFrame frame, ReadJpegFrame(bytes));
  ImageHeader header{ImageFormat::kJpeg, frame.height, frame.width,
                     frame.component_count, 0};
  const bool progressive = (frame.sof & 3) == 2;
  if (progressive) {
    // libjpeg keeps the coefficients, 16 bits each, until the last scan.
    int samples = 0;
    int horizontal = 1;
    int vertical = 1;
    for (int i = 0; i < frame.component_count; ++i) {
      const JpegFrame::Component& component = frame.components[i];
      samples += component.horizontal_sampling * component.vertical_sampling;
      horizontal = std::max<int>(horizontal, component.horizontal_sampling);
      vertical = std::max<int>(vertical, component.vertical_sampling);
    }
    header.working_bytes = int64_t{2} * frame.height * frame.width * samples /
                           (horizontal * vertical);
  }
  return header;
}

// Signature, then IHDR: length, type, width, height, depth, colour type.
absl::StatusOr<ImageHeader> ReadPng(absl::string_view bytes) {
  if (bytes.size() < 26) return Truncated(ImageFormat::kPng, bytes.size());
  if (bytes.substr(12, 4) != "IHDR") {
    return absl::DataLossError("damaged PNG: no IHDR chunk at its head");
  }
  int channels = 3;
  switch (ByteAt(bytes, 25)) {
    case 0:
      channels = 1;
      break;
    case 4:
      channels = 2;
      break;
    case 6:
      channels = 4;
      break;
  }
  MILLRACE_ASSIGN_OR_RETURN(ImageHeader header,
                            MakeHeader(ImageFormat::kPng, Big32(bytes, 20),
                                       Big32(bytes, 16), channels));
  if (ByteAt(bytes, 24) == 16) header.working_bytes *= 2;
  return header;
}

// File header of 14 bytes, then one of several headers, told by its length.
absl::StatusOr<ImageHeader> ReadBmp(absl::string_view bytes) {
  constexpr uint64_t kFileHeader = 14;
  if (bytes.size() < 26 ||
      bytes.size() < kFileHeader + Little32(bytes, kFileHeader)) {
    return Truncated(ImageFormat::kBmp, bytes.size());
  }
  if (Little32(bytes, 14) == 12) {
    return MakeHeader(ImageFormat::kBmp, Little16(bytes, 20),
                      Little16(bytes, 18), 3);
  }
  // A negative height says that the top row comes first.
  const int64_t height = static_cast<int32_t>(Little32(bytes, 22));
  return MakeHeader(ImageFormat::kBmp, std::abs(height),
                    static_cast<int32_t>(Little32(bytes, 18)), 3);
}

absl::StatusOr<ImageHeader> ReadPnm(absl::string_view bytes) {
  MILLRACE_ASSIGN_OR_RETURN(const PnmHeader pnm, ReadPnmHeader(bytes));
  return MakeHeader(ImageFormat::kPnm, pnm.height, pnm.width, pnm.channels);
}

// RIFF header of 12 bytes, then a chunk of one of three kinds.
absl::StatusOr<ImageHeader> ReadWebp(absl::string_view bytes) {
  constexpr ImageFormat kFormat = ImageFormat::kWebp;
  if (bytes.size() < 30) return Truncated(kFormat, bytes.size());
  const absl::string_view kind = bytes.substr(12, 4);
  if (kind == "VP8X") {
    if ((ByteAt(bytes, 20) & 2) != 0) {
      return absl::DataLossError("an animated WebP is not supported");
    }
    return MakeHeader(kFormat, Little24(bytes, 27) + 1, Little24(bytes, 24) + 1,
                      (ByteAt(bytes, 20) & 0x10) != 0 ? 4 : 3);
  }
  if (kind == "VP8L") {
    const uint32_t bits = Little32(bytes, 21);
    return MakeHeader(kFormat, (bits >> 14 & 0x3FFF) + 1, (bits & 0x3FFF) + 1,
                      (bits >> 28 & 1) != 0 ? 4 : 3);
  }
  if (kind == "VP8 ") {
    return MakeHeader(kFormat, Little16(bytes, 28) & 0x3FFF,
                      Little16(bytes, 26) & 0x3FFF, 3);
  }
  return absl::DataLossError("damaged WebP: no VP8 chunk at its head");
}

absl::StatusOr<ImageHeader> ReadTiff(absl::string_view bytes) {
  MILLRACE_ASSIGN_OR_RETURN(TiffHeader tiff, ReadTiffHeader(bytes));
  if (tiff.sample_format != 1 || (tiff.bits > 8 && tiff.bits != 16)) {
    return absl::DataLossError(absl::StrCat(
        "a TIFF of ", tiff.bits, " bits a sample (format ", tiff.sample_format,
        ") is not supported: only unsigned ones of 1 to 8 and 16 bits"));
  }
  if (tiff.orientation >= 5 && tiff.orientation <= 8) {
    std::swap(tiff.height, tiff.width);
  }
  MILLRACE_ASSIGN_OR_RETURN(
      ImageHeader header,
      MakeHeader(ImageFormat::kTiff, tiff.height, tiff.width, tiff.channels));
  if (tiff.bits == 16) header.working_bytes *= 2;
  return header;
}

absl::Status UnknownFormat(absl::string_view bytes) {
  std::string hex;
  for (size_t i = 0; i < std::min<size_t>(bytes.size(), 8); ++i) {
    absl::StrAppendFormat(&hex, " %02x", ByteAt(bytes, i));
  }
  return absl::DataLossError(
      absl::StrCat("no image of a known format (JPEG, PNG, BMP, PNM, TIFF, "
                   "WebP): it begins with",
                   hex));
}

}  // namespace

absl::string_view Name(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kBmp:
      return "BMP";
    case ImageFormat::kPnm:
      return "PNM";
    case ImageFormat::kTiff:
      return "TIFF";
    case ImageFormat::kWebp:
      return "WebP";
  }
  return "unknown";
}

absl::StatusOr<ImageHeader> ReadImageHeader(absl::string_view bytes) {
  if (bytes.empty()) return absl::DataLossError("empty file: 0 bytes");
  // The smallest of all, a bitmap of one pixel as text, has 8.
  if (bytes.size() < 8) {
    return absl::DataLossError(
        absl::StrCat("too short for an image: ", bytes.size(), " bytes"));
  }
  const auto begins_with = [bytes](absl::string_view prefix) {
    return bytes.substr(0, prefix.size()) == prefix;
  };
  if (begins_with("\xFF\xD8\xFF")) return ReadJpeg(bytes);
  if (begins_with("\x89PNG\r\n\x1A\n")) return ReadPng(bytes);
  if (begins_with("BM")) return ReadBmp(bytes);
  if (begins_with("II") || begins_with("MM")) return ReadTiff(bytes);
  if (begins_with("RIFF") &&
      (bytes.size() < 12 || bytes.substr(8, 4) == "WEBP")) {
    return ReadWebp(bytes);
  }
  if (IsPnm(bytes)) return ReadPnm(bytes);
  return UnknownFormat(bytes);
}

}  // namespace millrace::augment
