#include "storage/dataset.h"

#include <bit>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/logging.h"

namespace millrace::storage {
namespace {

// Changes whenever fingerprints of unchanged data would.
constexpr absl::string_view kFingerprintVersion = "millrace fingerprint 1";

}  // namespace

void Sample::Clear() {
  fields_.clear();
  labels_ = {};
  owner_.reset();
}

void Sample::SetLabel(int64_t label) {
  label_ = label;
  labels_ = {DType::kInt64, &label_, 1};
}

const std::vector<FieldSpec>& Dataset::fields() const {
  // Never destroyed: threads may read while the process exits.
  static const auto* const fields =
      new std::vector<FieldSpec>{{"image", Descriptor{}}};
  return *fields;
}

const std::vector<std::string>& Dataset::class_names() const {
  static const auto* const none = new std::vector<std::string>;
  return *none;
}

absl::Status Dataset::ReadLabels(int64_t index, Sample* sample) const {
  return Read(index, sample);
}

std::string Dataset::Location(int64_t index) const {
  const absl::StatusOr<std::string> key = Key(index);
  return key.ok() ? EscapeForMessage(*key) : absl::StrCat("sample ", index);
}

FingerprintBuilder::FingerprintBuilder(
    absl::Span<const std::string> class_names) {
  hasher_.AddString(kFingerprintVersion);
  hasher_.AddInt(static_cast<int64_t>(class_names.size()));
  for (const std::string& name : class_names) hasher_.AddString(name);
}

void FingerprintBuilder::Add(absl::string_view key, LabelView labels) {
  // Labels are hashed as they lie in memory.
  static_assert(std::endian::native == std::endian::little);
  ++count_;
  hasher_.AddString(key);
  hasher_.AddInt(static_cast<int64_t>(labels.dtype));
  hasher_.AddInt(labels.count);
  if (labels.count > 0) {
    hasher_.AddBytes(labels.data, static_cast<size_t>(labels.count) *
                                      ByteSize(labels.dtype));
  }
}

void FingerprintBuilder::Add(absl::string_view key, int64_t label) {
  Add(key, LabelView{DType::kInt64, &label, 1});
}

Hash128 FingerprintBuilder::Finish(absl::string_view lossy) const {
  const Hash128 samples = hasher_.Finish();
  Hasher whole;
  whole.AddInt(static_cast<int64_t>(samples.high));
  whole.AddInt(static_cast<int64_t>(samples.low));
  whole.AddInt(count_);
  whole.AddString(lossy);
  return whole.Finish();
}

}  // namespace millrace::storage
