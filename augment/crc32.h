#ifndef MILLRACE_AUGMENT_CRC32_H_
#define MILLRACE_AUGMENT_CRC32_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace millrace::augment {

// The CRC-32 of PNG and zlib (polynomial 0xEDB88320, reflected).
uint32_t Crc32(absl::string_view bytes);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_CRC32_H_
