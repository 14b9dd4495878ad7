#include "augment/tiff_header.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace millrace::augment {
namespace {

enum Tag : uint64_t {
  kImageWidth = 256,
  kImageLength = 257,
  kBitsPerSample = 258,
  kStripOffsets = 273,
  kOrientation = 274,
  kSamplesPerPixel = 277,
  kStripByteCounts = 279,
  kTileOffsets = 324,
  kTileByteCounts = 325,
  kSampleFormat = 339,
};

bool IsOfUse(uint64_t tag) {
  switch (tag) {
    case kImageWidth:
    case kImageLength:
    case kBitsPerSample:
    case kStripOffsets:
    case kOrientation:
    case kSamplesPerPixel:
    case kStripByteCounts:
    case kTileOffsets:
    case kTileByteCounts:
    case kSampleFormat:
      return true;
    default:
      return false;
  }
}

// Numbers of 1 to 8 bytes in the file's byte order.
class NumberReader {
 public:
  NumberReader(absl::string_view bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  // False if the number does not lie inside the file.
  bool Read(uint64_t position, int size, uint64_t* value) const {
    if (position > bytes_.size() ||
        bytes_.size() - position < static_cast<size_t>(size)) {
      return false;
    }
    *value = 0;
    for (int i = 0; i < size; ++i) {
      const int k = big_endian_ ? i : size - 1 - i;
      *value = *value << 8 | static_cast<uint8_t>(bytes_[position + k]);
    }
    return true;
  }

  // Whether `count` values of `size` bytes lie inside the file.
  bool Has(uint64_t position, uint64_t count, int size) const {
    return position <= bytes_.size() &&
           count <= (bytes_.size() - position) / static_cast<size_t>(size);
  }

 private:
  absl::string_view bytes_;
  bool big_endian_;
};

// Bytes of a value of a field type; 0 for types that these tags don't have.
int ByteSizeOfType(uint64_t type) {
  switch (type) {
    case 1:
      return 1;
    case 3:
      return 2;
    case 4:
      return 4;
    case 16:
      return 8;
    default:
      return 0;
  }
}

// The numbers of one entry of the directory.
struct Values {
  uint64_t count = 0;
  uint64_t position = 0;
  int size = 0;

  // REQUIRES: i < count.
  uint64_t Get(const NumberReader& reader, uint64_t i) const {
    uint64_t value = 0;
    reader.Read(position + i * size, size, &value);
    return value;
  }
};

// Where the parts of the directory and its entries lie: classic TIFF, BigTIFF.
struct Format {
  int directory_at;
  int count_size;
  int entry_size;
  // Of an entry's count, and of its value or the value's place.
  int field_size;
};
constexpr Format kClassic = {4, 2, 12, 4};
constexpr Format kBig = {8, 8, 20, 8};

// What of the directory is of use here.
struct Directory {
  TiffHeader header;
  Values offsets;
  Values byte_counts;
};

void TakeEntry(const NumberReader& reader, uint64_t tag, const Values& values,
               Directory* directory) {
  constexpr uint64_t kMost = uint64_t{1} << 40;
  TiffHeader& header = directory->header;
  const uint64_t first = values.Get(reader, 0);
  const auto number = static_cast<int64_t>(std::min(first, kMost));
  const auto small = static_cast<int>(std::min<uint64_t>(first, 1024));
  switch (tag) {
    case kImageWidth:
      header.width = number;
      break;
    case kImageLength:
      header.height = number;
      break;
    case kBitsPerSample:
      header.bits = small;
      break;
    case kOrientation:
      header.orientation = small;
      break;
    case kSamplesPerPixel:
      header.channels = small;
      break;
    case kSampleFormat:
      header.sample_format = small;
      break;
    case kStripOffsets:
    case kTileOffsets:
      directory->offsets = values;
      break;
    case kStripByteCounts:
    case kTileByteCounts:
      directory->byte_counts = values;
      break;
  }
}

uint64_t DataEnd(const NumberReader& reader, const Directory& directory) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  uint64_t end = 0;
  const uint64_t count =
      std::min(directory.offsets.count, directory.byte_counts.count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t offset = directory.offsets.Get(reader, i);
    const uint64_t size = directory.byte_counts.Get(reader, i);
    end = std::max(end, size > kMost - offset ? kMost : offset + size);
  }
  return end;
}

}  // namespace

absl::StatusOr<TiffHeader> ReadTiffHeader(absl::string_view bytes) {
  const absl::Status truncated = absl::DataLossError(
      absl::StrCat("truncated TIFF: no directory in ", bytes.size(), " bytes"));
  if (bytes.size() < 8) return truncated;
  const NumberReader reader(bytes, bytes[0] == 'M');
  uint64_t version = 0;
  reader.Read(2, 2, &version);
  if (version != 42 && version != 43) {
    return absl::DataLossError(
        absl::StrCat("damaged TIFF: unknown version ", version));
  }
  const Format& format = version == 42 ? kClassic : kBig;

  uint64_t position = 0;
  uint64_t entries = 0;
  if (!reader.Read(format.directory_at, format.field_size, &position) ||
      !reader.Read(position, format.count_size, &entries)) {
    return truncated;
  }
  position += format.count_size;
  Directory directory;
  for (uint64_t i = 0; i < entries; ++i, position += format.entry_size) {
    uint64_t tag = 0;
    uint64_t type = 0;
    Values values;
    if (!reader.Read(position, 2, &tag) ||
        !reader.Read(position + 2, 2, &type) ||
        !reader.Read(position + 4, format.field_size, &values.count)) {
      return truncated;
    }
    values.size = ByteSizeOfType(type);
    if (!IsOfUse(tag) || values.size == 0 || values.count == 0) continue;
    values.position = position + 4 + format.field_size;
    // Values that don't fit into the entry lie where it points.
    if (values.count > static_cast<uint64_t>(format.field_size / values.size) &&
        !reader.Read(values.position, format.field_size, &values.position)) {
      return truncated;
    }
    if (!reader.Has(values.position, values.count, values.size)) {
      return truncated;
    }
    TakeEntry(reader, tag, values, &directory);
  }
  if (directory.header.height == 0 || directory.header.width == 0) {
    return absl::DataLossError("damaged TIFF: no width and height");
  }
  directory.header.data_end = DataEnd(reader, directory);
  return directory.header;
}

}  // namespace millrace::augment
