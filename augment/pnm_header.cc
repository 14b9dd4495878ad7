#include "augment/pnm_header.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace millrace::augment {
namespace {

// Reads the number at *position, after white space and comments.
absl::StatusOr<int64_t> NextNumber(absl::string_view bytes, size_t* position) {
  constexpr int64_t kMost = int64_t{1} << 40;
  size_t& i = *position;
  while (i < bytes.size() &&
         (absl::ascii_isspace(bytes[i]) || bytes[i] == '#')) {
    if (bytes[i] == '#') i = std::min(bytes.find('\n', i), bytes.size() - 1);
    ++i;
  }
  const size_t start = i;
  int64_t number = 0;
  for (; i < bytes.size() && absl::ascii_isdigit(bytes[i]); ++i) {
    number = std::min(number * 10 + (bytes[i] - '0'), kMost);
  }
  if (i == bytes.size()) {
    return absl::DataLossError(absl::StrCat(
        "truncated PNM: header cut off after ", bytes.size(), " bytes"));
  }
  if (i == start) {
    return absl::DataLossError(absl::StrCat("damaged PNM: no number at byte ",
                                            start, " of its header"));
  }
  return number;
}

}  // namespace

bool IsPnm(absl::string_view bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' && bytes[1] >= '1' &&
         bytes[1] <= '6' && (absl::ascii_isspace(bytes[2]) || bytes[2] == '#');
}

absl::StatusOr<PnmHeader> ReadPnmHeader(absl::string_view bytes) {
  const char kind = bytes[1];
  PnmHeader header;
  header.text = kind <= '3';
  header.bitmap = kind == '1' || kind == '4';
  header.channels = kind == '3' || kind == '6' ? 3 : 1;
  size_t position = 2;
  MILLRACE_ASSIGN_OR_RETURN(header.width, NextNumber(bytes, &position));
  MILLRACE_ASSIGN_OR_RETURN(header.height, NextNumber(bytes, &position));
  if (!header.bitmap) {
    MILLRACE_ASSIGN_OR_RETURN(const int64_t max_value,
                              NextNumber(bytes, &position));
    if (max_value < 1 || max_value > 65535) {
      return absl::DataLossError(absl::StrCat("damaged PNM: largest value ",
                                              max_value, ", want 1 to 65535"));
    }
    header.max_value = static_cast<int>(max_value);
  }
  header.data_offset = position + 1;
  return header;
}

}  // namespace millrace::augment
