#ifndef MILLRACE_LOADER_SAMPLE_TRANSFORM_H_
#define MILLRACE_LOADER_SAMPLE_TRANSFORM_H_

// What a loader does to each sample between reading and the batch: an
// interface, so that images, raw tensors and a user's own processing go the
// same way.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/generator.h"
#include "base/tensor.h"
#include "storage/dataset.h"

namespace millrace::loader {

// One tensor that a transform makes of each sample.
struct OutputField {
  // Name in the batch: "image", "mask", ...
  std::string name;
  DType dtype = DType::kFloat32;
  // Of one sample; the batch's tensor has the samples' dimension in front.
  Shape shape;
};

// Implementations: image_transform.h (encoded or raw images through a
// pipeline), raw_transform.h (tensors as they are).
//
// Thread-safe: workers share one; what a thread needs for itself is its
// Context.
class SampleTransform {
 public:
  // Scratch memory of one worker. Confined to one thread.
  class Context {
   public:
    virtual ~Context() = default;
    // Nanoseconds spent decoding since the last call; 0 where not told apart.
    virtual int64_t TakeDecodeNanoseconds() { return 0; }
  };

  virtual ~SampleTransform() = default;

  // The tensors, in order. Constant.
  virtual absl::Span<const OutputField> outputs() const = 0;

  virtual std::unique_ptr<Context> MakeContext() const = 0;

  // Writes field i to outputs[i]: the bytes of its shape, aligned to its type.
  // `generator` holds the sample's own random numbers; whatever is drawn
  // elsewhere breaks reproducibility. Errors are the sample's: DataLoss for bad
  // bytes; the loader adds path, index, epoch and rank.
  virtual absl::Status Run(const storage::Sample& sample, Generator* generator,
                           Context* context,
                           absl::Span<void* const> outputs) const = 0;

  // Bytes of scratch memory that Run() will need for `sample`, found without
  // doing its work; counts against the loader's budget of bytes in flight.
  virtual int64_t ScratchBytes(const storage::Sample& sample) const = 0;

  // Name and parameters as text. Equal texts must mean equal results: ranks
  // compare it, and a checkpoint refuses another.
  virtual std::string Describe() const = 0;
};

}  // namespace millrace::loader

#endif  // MILLRACE_LOADER_SAMPLE_TRANSFORM_H_
