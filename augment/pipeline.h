#ifndef MILLRACE_AUGMENT_PIPELINE_H_
#define MILLRACE_AUGMENT_PIPELINE_H_

// From the bytes of an encoded image to a tensor in its place in the batch.
//
//   bytes --decode--> RGB --transforms--> fixed-size tensor, written once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "augment/transforms.h"
#include "augment/workspace.h"
#include "base/generator.h"
#include "base/hash.h"
#include "base/tensor.h"

namespace millrace::augment {

enum class ColorMode {
  kRgb = 0,
  // One channel: Pillow's "L".
  kGray = 1,
};

struct PipelineOptions {
  ColorMode color = ColorMode::kRgb;
  // Of the output, whose type the transforms decide: float32 after ToTensor,
  // uint8 without it.
  Layout layout = Layout::kCHW;

  // Images of more pixels are refused before memory is taken for them. The
  // default is Pillow's limit.
  int64_t max_pixels = 178956970;

  // InvalidArgument naming the field and its value.
  absl::Status Validate() const;
};

// What a pipeline is given: encoded bytes, or pixels that need no decoding.
struct ImageSource {
  absl::string_view bytes;
  // 0 x 0: `bytes` is an encoded image. Else raw 8-bit pixels, HWC, of
  // `channels` 1 or 3.
  int height = 0;
  int width = 0;
  int channels = 3;
};

// Type and shape of the tensor that a pipeline writes, of one sample:
// [channels, height, width] or [height, width, channels].
struct OutputSpec {
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kCHW;
  int channels = 3;
  int height = 0;
  int width = 0;

  Shape shape() const;
  int64_t ByteCount() const;
};

// A sequence of transforms, ready to run.
//
//   MILLRACE_ASSIGN_OR_RETURN(
//       Pipeline pipeline,
//       Pipeline::Create({RandomResizedCrop{.size = 224},
//                         RandomHorizontalFlip{}, ToTensor{}, Normalize{}}));
//
// Guarantees: the output is a function of the bytes, of the transforms, and of
// what the generator gives, the same bits on every machine.
//
// Thread-safe: immutable once created; copying is cheap.
class Pipeline {
 public:
  // InvalidArgument for an argument out of range (naming transform, argument
  // and value), an order that makes no sense (Normalize without ToTensor, a
  // pixel transform after ToTensor), an output of more than max_pixels, or a
  // last size that is not fixed: some Resize to a pair, CenterCrop or
  // RandomResizedCrop must decide it. Custom counts as keeping the size; an
  // image that it leaves with another at the end is an error of Run().
  static absl::StatusOr<Pipeline> Create(std::vector<Transform> transforms,
                                         const PipelineOptions& options = {});

  // The usual three, for square images of `size` pixels, in float32:
  //  * "train": RandomResizedCrop, RandomHorizontalFlip, ToTensor, Normalize;
  //  * "train_full": RandomResizedCrop, RandomHorizontalFlip,
  //    RandomRotation(10), ColorJitter(0.2, 0.2, 0.2), ToTensor, Normalize;
  //  * "eval": Resize(size * 256 / 224, truncated), CenterCrop, ToTensor,
  //    Normalize.
  // InvalidArgument for another name, listing these.
  static absl::StatusOr<Pipeline> Preset(absl::string_view name, int size,
                                         const PipelineOptions& options = {});

  const OutputSpec& output() const;

  // Decodes, transforms and writes output().ByteCount() bytes to `out`, which
  // needs no alignment. Randomness comes from `generator` (transform i of the
  // list draws as use i).
  //  * DataLoss: empty, truncated or damaged bytes, more than max_pixels (at
  //    any step), a format nobody here decodes, or a Custom transform that
  //    failed; the message says which, without path.
  //  * ResourceExhausted: no memory.
  // After an error the contents of `out` are unspecified.
  absl::Status Run(const ImageSource& source, Generator* generator,
                   Workspace* workspace, void* out) const;

  // Bytes of scratch memory that Run() will need for `source`, judged by its
  // header alone, without decoding; 0 where the header can't be read.
  int64_t ScratchBytes(const ImageSource& source) const;

  // "RandomResizedCrop(224)|RandomHorizontalFlip|ToTensor|Normalize(imagenet)":
  // arguments that have their default value left out.
  std::string ToString() const;

  // Of everything that the output depends on: transforms, options, version of
  // the kernels. Ranks compare it, checkpoints keep it.
  Hash128 hash() const;

 private:
  struct Impl;
  explicit Pipeline(std::shared_ptr<const Impl> impl);
  // Shared between copies; immutable.
  std::shared_ptr<const Impl> impl_;
};

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_PIPELINE_H_
