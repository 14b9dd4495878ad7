#include "augment/tiff_header.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace millrace::augment {
namespace {

// Tags of a directory entry.
constexpr uint64_t kImageWidth = 256;
constexpr uint64_t kImageLength = 257;
constexpr uint64_t kBitsPerSample = 258;
constexpr uint64_t kSamplesPerPixel = 277;

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

 private:
  absl::string_view bytes_;
  bool big_endian_;
};

// Bytes of a value of a field type; 0 for those that sizes don't have.
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

void TakeEntry(uint64_t tag, uint64_t value, TiffHeader* header) {
  const int64_t bounded =
      static_cast<int64_t>(std::min<uint64_t>(value, uint64_t{1} << 40));
  switch (tag) {
    case kImageWidth:
      header->width = bounded;
      break;
    case kImageLength:
      header->height = bounded;
      break;
    case kBitsPerSample:
      header->bits = static_cast<int>(std::min<int64_t>(bounded, 64));
      break;
    case kSamplesPerPixel:
      header->channels = static_cast<int>(std::min<int64_t>(bounded, 64));
      break;
  }
}

// Where the parts of a directory and its entries lie, for both kinds of file.
struct Sizes {
  int count;
  int entry;
  // Bytes of an entry's count field, and of its value.
  int field;
};

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
  const bool big = version == 43;
  const Sizes sizes = big ? Sizes{8, 20, 8} : Sizes{2, 12, 4};

  uint64_t directory = 0;
  uint64_t entries = 0;
  if (!reader.Read(big ? 8 : 4, sizes.field, &directory) ||
      !reader.Read(directory, sizes.count, &entries)) {
    return truncated;
  }
  TiffHeader header;
  for (uint64_t i = 0; i < std::min<uint64_t>(entries, 4096); ++i) {
    const uint64_t entry = directory + sizes.count + i * sizes.entry;
    uint64_t tag = 0;
    uint64_t type = 0;
    uint64_t count = 0;
    uint64_t value = 0;
    if (!reader.Read(entry, 2, &tag) || !reader.Read(entry + 2, 2, &type) ||
        !reader.Read(entry + 4, sizes.field, &count)) {
      return truncated;
    }
    const int size = ByteSizeOfType(type);
    if (size == 0) continue;
    uint64_t position = entry + 4 + sizes.field;
    // Values that don't fit into the entry lie where it points.
    if (count > static_cast<uint64_t>(sizes.field / size) &&
        !reader.Read(position, sizes.field, &position)) {
      return truncated;
    }
    if (reader.Read(position, size, &value)) TakeEntry(tag, value, &header);
  }
  if (header.height == 0 || header.width == 0) {
    return absl::DataLossError("damaged TIFF: no width and height");
  }
  return header;
}

}  // namespace millrace::augment
