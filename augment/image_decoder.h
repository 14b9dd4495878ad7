#ifndef MILLRACE_AUGMENT_IMAGE_DECODER_H_
#define MILLRACE_AUGMENT_IMAGE_DECODER_H_

// From encoded bytes to rows of pixels: the one interface that decoders stand
// behind.

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "augment/image.h"
#include "augment/image_header.h"

namespace millrace::augment {

// What to decode.
struct DecodeRequest {
  // Part of the image that is wanted, in pixels of the (scaled) image.
  Region region;
  // 1: full size. 2, 4, 8: the image of ceil(height / scale) x ceil(width /
  // scale) pixels that the format's transform gives directly; other pixels than
  // decoding in full and resizing.
  int scale = 1;
};

// Decodes images of some formats.
//
// Whether an image is good is decided by its structure (markers, lengths,
// checksums, end), before and apart from decoding, so that the answer doesn't
// depend on the region. Pixels of a region are those that decoding the whole
// image gives.
//
// Confined to one thread: decoders keep scratch memory.
class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;

  // Writes the pixels of `request.region` to `out`, whose size is the region's;
  // its channels decide what they become: 3 is R, G, B (grey: three equal
  // ones), 1 is Pillow's luminance. An alpha channel is dropped, EXIF
  // orientation ignored (TIFF's own tag is not EXIF).
  //  * DataLoss: truncated or damaged; the message says how.
  //  * Unimplemented: a scale that this decoder doesn't have.
  //  * ResourceExhausted: no memory.
  // REQUIRES: `header` is ReadImageHeader(bytes), of a format of this decoder;
  // the region is not empty and inside the scaled image.
  virtual absl::Status Decode(absl::string_view bytes,
                              const ImageHeader& header,
                              const DecodeRequest& request,
                              const ImageView& out) = 0;

  // Bytes of scratch memory held.
  virtual int64_t ScratchBytes() const = 0;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_IMAGE_DECODER_H_
