#include "augment/pnm_decoder.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "augment/convert_channels.h"
#include "augment/pnm_header.h"
#include "augment/rounding.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

uint8_t Scale(int value, int max_value) {
  const double part = static_cast<double>(value) / max_value;
  return static_cast<uint8_t>(std::min(255.0, RoundHalfToEven(part * 255)));
}

// Gives the samples of a row in bytes.
class BinaryRows {
 public:
  BinaryRows(absl::string_view bytes, const PnmHeader& header)
      : header_(header),
        data_(reinterpret_cast<const uint8_t*>(bytes.data()) +
              header.data_offset) {
    for (int i = 0; i < 256; ++i) table_[i] = Scale(i, header.max_value);
  }

  void Read(int y, uint8_t* out) const {
    const uint8_t* in = data_ + y * header_.RowBytes();
    const int64_t count = header_.width * header_.channels;
    if (header_.bitmap) {
      for (int64_t i = 0; i < count; ++i) {
        out[i] = (in[i / 8] >> (7 - i % 8) & 1) != 0 ? 0 : 255;
      }
    } else if (header_.max_value > 255) {
      for (int64_t i = 0; i < count; ++i) {
        out[i] = Scale(in[2 * i] << 8 | in[2 * i + 1], header_.max_value);
      }
    } else {
      for (int64_t i = 0; i < count; ++i) out[i] = table_[in[i]];
    }
  }

 private:
  const PnmHeader& header_;
  const uint8_t* data_;
  std::array<uint8_t, 256> table_;
};

// Reads decimal samples one after the other.
class TextRows {
 public:
  TextRows(absl::string_view bytes, const PnmHeader& header)
      : header_(header), bytes_(bytes), position_(header.data_offset) {}

  // False where the samples end early or are no numbers.
  bool Read(uint8_t* out) {
    const int64_t count = header_.width * header_.channels;
    for (int64_t i = 0; i < count; ++i) {
      while (position_ < bytes_.size() &&
             absl::ascii_isspace(bytes_[position_])) {
        ++position_;
      }
      int value = 0;
      if (!ReadValue(&value)) return false;
      if (header_.bitmap) value = 1 - value;
      out[i] = Scale(value, header_.max_value);
    }
    return true;
  }

 private:
  bool ReadValue(int* value) {
    const size_t start = position_;
    while (position_ < bytes_.size() &&
           absl::ascii_isdigit(bytes_[position_])) {
      *value =
          std::min(*value * 10 + (bytes_[position_] - '0'), header_.max_value);
      ++position_;
      // Bits need no space between them.
      if (header_.bitmap) break;
    }
    return position_ > start;
  }

  const PnmHeader& header_;
  absl::string_view bytes_;
  size_t position_;
};

}  // namespace

absl::Status PnmDecoder::Decode(absl::string_view bytes, const ImageHeader&,
                                const DecodeRequest& request,
                                const ImageView& out) {
  if (request.scale != 1) {
    return absl::UnimplementedError(
        absl::StrCat("decoding a PNM at scale 1/", request.scale));
  }
  MILLRACE_ASSIGN_OR_RETURN(const PnmHeader pnm, ReadPnmHeader(bytes));
  const int height = static_cast<int>(pnm.height);
  MILLRACE_ASSIGN_OR_RETURN(
      const ImageView row,
      row_.Allocate(1, static_cast<int>(pnm.width), pnm.channels));
  const absl::Status truncated = absl::DataLossError(absl::StrCat(
      "truncated PNM: samples end early, after ", bytes.size(), " bytes"));
  const Region& region = request.region;
  const auto take = [&](int y) {
    const ConstImageView wanted =
        ConstImageView(row).Crop({0, region.left, 1, region.width});
    ConvertChannels(wanted, out.Crop({y - region.top, 0, 1, region.width}));
  };
  if (!pnm.text) {
    const int64_t needed =
        static_cast<int64_t>(pnm.data_offset) + height * pnm.RowBytes();
    if (static_cast<int64_t>(bytes.size()) < needed) return truncated;
    const BinaryRows rows(bytes, pnm);
    for (int y = region.top; y < region.top + region.height; ++y) {
      rows.Read(y, row.data);
      take(y);
    }
    return absl::OkStatus();
  }
  // All rows are read, so that damage below the region counts.
  TextRows rows(bytes, pnm);
  for (int y = 0; y < height; ++y) {
    if (!rows.Read(row.data)) return truncated;
    if (y >= region.top && y < region.top + region.height) take(y);
  }
  return absl::OkStatus();
}

}  // namespace millrace::augment
