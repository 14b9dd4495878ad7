#include "augment/image_structure.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "augment/crc32.h"
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

absl::Status Truncated(ImageFormat format, absl::string_view where,
                       size_t size) {
  return absl::DataLossError(absl::StrCat("truncated ", Name(format), ": ",
                                          where, " ends behind byte ", size));
}

// Chunks whose absence changes no pixel that we take: alpha is dropped.
bool IsForPixels(absl::string_view type) {
  return type == "IHDR" || type == "PLTE" || type == "IDAT" || type == "IEND";
}

absl::StatusOr<absl::string_view> CheckPng(absl::string_view bytes,
                                           std::string* rewritten) {
  constexpr size_t kSignature = 8;
  // Length and type before a chunk's data, CRC behind them.
  constexpr size_t kAround = 12;
  rewritten->assign(bytes.data(), kSignature);
  bool dropped = false;
  size_t position = kSignature;
  while (true) {
    if (bytes.size() - position < kAround) {
      return Truncated(ImageFormat::kPng, "the next chunk", bytes.size());
    }
    const size_t length = Big32(bytes, position);
    const absl::string_view type = bytes.substr(position + 4, 4);
    if (bytes.size() - position - kAround < length) {
      return Truncated(ImageFormat::kPng,
                       absl::StrCat("the chunk at byte ", position),
                       bytes.size());
    }
    const absl::string_view chunk = bytes.substr(position, length + kAround);
    position += chunk.size();
    if (!IsForPixels(type)) {
      dropped = true;
      continue;
    }
    if (Crc32(chunk.substr(4, length + 4)) != Big32(chunk, length + 8)) {
      return absl::DataLossError(
          absl::StrCat("damaged PNG: wrong checksum of the chunk ", type,
                       " at byte ", position - chunk.size()));
    }
    rewritten->append(chunk.data(), chunk.size());
    if (type == "IEND") break;
  }
  if (dropped) return absl::string_view(*rewritten);
  return bytes.substr(0, position);
}

absl::Status CheckWebp(absl::string_view bytes) {
  constexpr size_t kRiffHeader = 8;
  if (bytes.size() - kRiffHeader < Little32(bytes, 4)) {
    return Truncated(ImageFormat::kWebp, "the RIFF chunk", bytes.size());
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
    case ImageFormat::kWebp:
      MILLRACE_RETURN_IF_ERROR(CheckWebp(bytes));
      return bytes;
    default:
      return bytes;
  }
}

}  // namespace millrace::augment
