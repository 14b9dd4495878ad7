#ifndef MILLRACE_STORAGE_DATASET_H_
#define MILLRACE_STORAGE_DATASET_H_

// Encoded bytes and labels by index: what every store of samples looks like to
// the rest of Millrace.
//
//   Dataset --Read(index)--> Sample: fields[0] "image"  bytes + descriptor
//                                    fields[1] ...      (most sets have one)
//                                    labels             typed numbers

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/hash.h"
#include "base/scratch_buffer.h"
#include "base/tensor.h"

namespace millrace::storage {

// What the bytes of a field are.
struct Descriptor {
  // True: an encoded image (JPEG, PNG, ...), to be recognised by its leading
  // bytes; the other members then mean nothing. False: a dense array of
  // `dtype` and `shape`, row-major, in the machine's byte order.
  bool encoded = true;
  DType dtype = DType::kUInt8;
  Shape shape;
  // Where the channels are, if the array is an image.
  Layout layout = Layout::kHWC;
};

// One field of a data set: fields of all samples in this order.
struct FieldSpec {
  // Name in the batch: "image", "mask", ...
  std::string name;
  // Shape and type, for raw fields that are the same in all samples; an empty
  // shape with encoded == false means that samples differ.
  Descriptor descriptor;
};

// Labels of every sample.
struct LabelSpec {
  // kInt64 or kFloat32.
  DType dtype = DType::kInt64;
  // Numbers a sample; 1 = a scalar in the batch; -1 = samples differ, which
  // needs a collate function of the user's own.
  int64_t count = 1;
};

// One field of one sample. `bytes` is valid as long as its Sample is neither
// changed nor destroyed, and the data set that filled it lives.
struct FieldView {
  absl::string_view bytes;
  Descriptor descriptor;
};

// Labels of a sample: `count` numbers of `dtype` (kInt64 or kFloat32). Valid as
// FieldView is.
struct LabelView {
  DType dtype = DType::kInt64;
  const void* data = nullptr;
  int64_t count = 0;

  // REQUIRES: dtype == kInt64.
  absl::Span<const int64_t> AsInt64() const {
    return {static_cast<const int64_t*>(data), static_cast<size_t>(count)};
  }
  // REQUIRES: dtype == kFloat32.
  absl::Span<const float> AsFloat() const {
    return {static_cast<const float*>(data), static_cast<size_t>(count)};
  }
};

// What Dataset::Read() fills: views, and what keeps them alive. A worker keeps
// one Sample and reads into it again and again, so that reading allocates
// nothing once its scratch has grown to the largest sample.
//
// A data set either copies (Scratch(), then AddField() on what it put there) or
// lends (Pin() an owner, then AddField() on bytes the owner keeps alive).
//
// Thread-compatible.
class Sample {
 public:
  Sample() = default;
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  absl::Span<const FieldView> fields() const { return fields_; }
  LabelView labels() const { return labels_; }

  // For data sets:

  // Forgets fields, labels and owner; keeps the scratch's capacity.
  void Clear();

  // `size` bytes of memory, with any contents, that live until the next Clear()
  // or Scratch(). Null if there is no memory for them, never otherwise.
  char* Scratch(size_t size) { return scratch_.Reserve(size); }

  // Bytes that the scratch holds on to: at least the largest size asked for.
  size_t scratch_capacity() const { return scratch_.capacity(); }

  // Keeps `owner` alive until the next Clear().
  void Pin(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }

  void AddField(absl::string_view bytes, Descriptor descriptor) {
    fields_.push_back({bytes, std::move(descriptor)});
  }

  // One class number, stored in the sample itself.
  void SetLabel(int64_t label);
  // Labels that the owner or the scratch keeps alive.
  void SetLabels(LabelView labels) { labels_ = labels; }

 private:
  absl::InlinedVector<FieldView, 1> fields_;
  LabelView labels_;
  int64_t label_ = 0;
  ScratchBuffer scratch_;
  std::shared_ptr<const void> owner_;
};

// A finite, indexed, immutable collection of samples. Implement it to bring
// data of your own: size(), Read(), Key() and fingerprint() suffice.
//
// Thread-safe: all methods may be called from any number of threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;

  // Number of samples.
  virtual int64_t size() const = 0;

  // The fields of each sample. Default: one, an encoded image named "image".
  virtual const std::vector<FieldSpec>& fields() const;

  // Default: one int64.
  virtual LabelSpec label_spec() const { return {}; }

  // Names of classes by label, where labels are class numbers; else empty.
  virtual const std::vector<std::string>& class_names() const;

  // Identity of the set: a hash of its class names and of the ordered list of
  // (key, label) pairs, so that folder, database and pack of one set agree, and
  // a checkpoint made with one resumes with another. FingerprintBuilder makes
  // it. Content is not part of it.
  virtual Hash128 fingerprint() const = 0;

  // Clears `sample` and fills it with sample `index`. Blocks for I/O. An error
  // says where the sample lies.
  //  * OutOfRange: index outside [0, size()).
  //  * DataLoss: the stored bytes are damaged.
  //  * NotFound, PermissionDenied, ResourceExhausted, Unavailable: as the
  //    system said.
  // After an error `sample` is clear. Whether encoded bytes are an image is not
  // looked at here.
  virtual absl::Status Read(int64_t index, Sample* sample) const = 0;

  // As Read(), but only the labels are wanted: `sample` may come without its
  // fields, which stores that keep labels apart use to read nothing at all.
  // Default: Read().
  virtual absl::Status ReadLabels(int64_t index, Sample* sample) const;

  // A name for sample `index` that is unique in the set and stable between
  // machines: for a folder the path below its root ("cat/1.jpg"), byte for
  // byte. OutOfRange as Read().
  virtual absl::StatusOr<std::string> Key(int64_t index) const = 0;

  // Where sample `index` lies, for messages: a path, or "KEY in STORE", with
  // odd bytes escaped already (EscapeForMessage). Default: the key. Never
  // fails: names the index if all else does.
  virtual std::string Location(int64_t index) const;

  // One line for people: what kind, where, how many ("folder /d: 2062 images
  // in 10 classes").
  virtual std::string Describe() const = 0;

  // Bytes of memory that the index takes. Default: 0.
  virtual int64_t IndexBytes() const { return 0; }
};

// Computes Dataset::fingerprint(), the same way for every store.
//
// Confined to one thread.
class FingerprintBuilder {
 public:
  explicit FingerprintBuilder(absl::Span<const std::string> class_names);

  // Call one of the two for each sample, in index order; a class number alone
  // is the same as labels of that one kInt64.
  void Add(absl::string_view key, LabelView labels);
  void Add(absl::string_view key, int64_t label);

  // `lossy` names a conversion that changed pixels ("resize_max=256,
  // quality=90"); empty where bytes decode as the originals do.
  Hash128 Finish(absl::string_view lossy = "") const;

 private:
  Hasher hasher_;
  int64_t count_ = 0;
};

}  // namespace millrace::storage

#endif  // MILLRACE_STORAGE_DATASET_H_
