#include "augment/image_structure.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "augment/crc32.h"
#include "augment/tiff_header.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

uint32_t Big32(absl::string_view bytes, size_t i) {
  uint32_t value = 0;
  for (size_t k = 0; k < 4; ++k) {
    value = value << 8 | static_cast<uint8_t>(bytes[i + k]);
  }
  return value;
}

uint32_t Little32(absl::string_view bytes, size_t i) {
  uint32_t value = 0;
  for (size_t k = 4; k-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i + k]);
  }
  return value;
}

absl::Status Truncated(ImageFormat format, absl::string_view what,
                       size_t size) {
  return absl::DataLossError(absl::StrCat("truncated ", Name(format), ": ",
                                          what, " missing behind byte ", size));
}

absl::Status DamagedPng(absl::string_view how) {
  return absl::DataLossError(absl::StrCat("damaged PNG: ", how));
}

// One chunk: length, type, data, CRC.
struct Chunk {
  absl::string_view type;
  absl::string_view all;
};

absl::StatusOr<Chunk> ChunkAt(absl::string_view bytes, size_t position) {
  constexpr size_t kAround = 12;
  const size_t left = bytes.size() - position;
  const size_t length = left < kAround ? 0 : Big32(bytes, position);
  if (left < kAround || left - kAround < length) {
    return Truncated(ImageFormat::kPng,
                     absl::StrCat("the rest of the chunk at byte ", position),
                     bytes.size());
  }
  const Chunk chunk = {bytes.substr(position + 4, 4),
                       bytes.substr(position, length + kAround)};
  if (Crc32(chunk.all.substr(4, length + 4)) != Big32(chunk.all, length + 8)) {
    return DamagedPng(
        absl::StrCat("wrong checksum of the chunk at byte ", position));
  }
  return chunk;
}

// Chunks that pixels need. tRNS is none of them: alpha is dropped.
bool IsForPixels(absl::string_view type) {
  return type == "IHDR" || type == "PLTE" || type == "IDAT" || type == "IEND";
}

absl::StatusOr<absl::string_view> CheckPng(absl::string_view bytes,
                                           std::string* rewritten) {
  constexpr size_t kSignature = 8;
  constexpr size_t kColorType = 25;
  constexpr int kPalette = 3;
  rewritten->assign(bytes.data(), kSignature);
  bool dropped = false;
  bool has_palette = false;
  bool has_pixels = false;
  size_t position = kSignature;
  while (true) {
    MILLRACE_ASSIGN_OR_RETURN(const Chunk chunk, ChunkAt(bytes, position));
    position += chunk.all.size();
    if (!IsForPixels(chunk.type)) {
      // Lower case: a decoder that doesn't know it may leave it out.
      const bool ancillary = (chunk.type[0] & 0x20) != 0;
      if (!ancillary) return DamagedPng("an unknown critical chunk");
      dropped = true;
      continue;
    }
    rewritten->append(chunk.all.data(), chunk.all.size());
    if (chunk.type == "IEND") break;
    has_palette |= chunk.type == "PLTE";
    has_pixels |= chunk.type == "IDAT";
    if (has_pixels && !has_palette && bytes[kColorType] == kPalette) {
      return DamagedPng("no palette before its pixels");
    }
  }
  if (!has_pixels) return DamagedPng("no pixels");
  return dropped ? absl::string_view(*rewritten) : bytes.substr(0, position);
}

absl::Status CheckBmp(absl::string_view bytes, const ImageHeader& header) {
  // The old header has no compression field.
  if (Little32(bytes, 14) == 12 || bytes.size() < 34) return absl::OkStatus();
  constexpr uint32_t kRle8 = 1;
  constexpr uint32_t kRle4 = 2;
  const uint32_t compression = Little32(bytes, 30);
  if (compression == kRle8 || compression == kRle4) return absl::OkStatus();
  const int64_t bits = Little32(bytes, 28) & 0xFFFF;
  const int64_t stride = (header.width * bits + 31) / 32 * 4;
  const int64_t needed = int64_t{Little32(bytes, 10)} + stride * header.height;
  if (static_cast<int64_t>(bytes.size()) < needed) {
    return Truncated(ImageFormat::kBmp, "pixels", bytes.size());
  }
  return absl::OkStatus();
}

absl::Status CheckTiff(absl::string_view bytes) {
  MILLRACE_ASSIGN_OR_RETURN(const TiffHeader tiff, ReadTiffHeader(bytes));
  if (tiff.data_end > bytes.size()) {
    return Truncated(ImageFormat::kTiff, "the rest of the last strip",
                     bytes.size());
  }
  return absl::OkStatus();
}

absl::Status CheckWebp(absl::string_view bytes) {
  constexpr size_t kRiffHeader = 8;
  if (bytes.size() - kRiffHeader < Little32(bytes, 4)) {
    return Truncated(ImageFormat::kWebp, "the rest of the RIFF chunk",
                     bytes.size());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<absl::string_view> CheckImageStructure(absl::string_view bytes,
                                                      const ImageHeader& header,
                                                      std::string* rewritten) {
  switch (header.format) {
    case ImageFormat::kPng:
      return CheckPng(bytes, rewritten);
    case ImageFormat::kBmp:
      MILLRACE_RETURN_IF_ERROR(CheckBmp(bytes, header));
      return bytes;
    case ImageFormat::kTiff:
      MILLRACE_RETURN_IF_ERROR(CheckTiff(bytes));
      return bytes;
    case ImageFormat::kWebp:
      MILLRACE_RETURN_IF_ERROR(CheckWebp(bytes));
      return bytes;
    case ImageFormat::kJpeg:
    case ImageFormat::kPnm:
      break;
  }
  return absl::InternalError(
      absl::StrCat("no structure to check of a ", Name(header.format)));
}

}  // namespace millrace::augment
