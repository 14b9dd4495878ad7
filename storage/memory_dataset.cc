#include "storage/memory_dataset.h"

#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::storage {
namespace {

absl::Status Invalid(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("MemoryDataset: ", what));
}

// `name` must have one entry a sample; none is right where it is optional.
absl::Status CheckCount(absl::string_view name, size_t count, int64_t size) {
  if (count == static_cast<size_t>(size)) return absl::OkStatus();
  return Invalid(
      absl::StrCat(name, " has ", count, " entries for ", size, " samples"));
}

absl::Status CheckArrays(const MemoryDatasetOptions& options) {
  absl::flat_hash_set<absl::string_view> names;
  for (const ArrayField& field : options.arrays) {
    if (field.name.empty()) return Invalid("an array has no name");
    if (!names.insert(field.name).second) {
      return Invalid(absl::StrCat("two arrays are named \"", field.name, "\""));
    }
    if (field.data == nullptr) {
      return Invalid(absl::StrCat("array \"", field.name, "\" has no data"));
    }
    const int64_t elements = ElementCount(field.shape);
    const int64_t most = std::numeric_limits<int64_t>::max() /
                         static_cast<int64_t>(ByteSize(field.dtype)) /
                         options.size;
    if (elements <= 0 || elements > most) {
      return Invalid(absl::StrCat(
          "array \"", field.name, "\": ", options.size, " samples of shape ",
          ShapeToString(field.shape), " are not an array"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLabels(const MemoryDatasetOptions& options) {
  if (options.labels.empty()) return absl::OkStatus();
  MILLRACE_RETURN_IF_ERROR(
      CheckCount("labels", options.labels.size(), options.size));
  if (options.class_names.empty()) return absl::OkStatus();
  const auto classes = static_cast<int64_t>(options.class_names.size());
  for (int64_t i = 0; i < options.size; ++i) {
    if (options.labels[i] < 0 || options.labels[i] >= classes) {
      return Invalid(absl::StrCat("labels[", i, "] is ", options.labels[i],
                                  ", but there are ", classes, " class names"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckKeys(const MemoryDatasetOptions& options) {
  if (options.keys.empty()) return absl::OkStatus();
  MILLRACE_RETURN_IF_ERROR(
      CheckCount("keys", options.keys.size(), options.size));
  absl::flat_hash_set<absl::string_view> seen;
  seen.reserve(options.keys.size());
  for (int64_t i = 0; i < options.size; ++i) {
    const std::string& key = options.keys[i];
    if (key.empty()) return Invalid(absl::StrCat("keys[", i, "] is empty"));
    if (!seen.insert(key).second) {
      return Invalid(absl::StrCat("keys[", i, "] \"", EscapeForMessage(key),
                                  "\" stands there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status Validate(const MemoryDatasetOptions& options) {
  if (options.size <= 0) {
    return Invalid(absl::StrCat("size is ", options.size, ", must be > 0"));
  }
  if (options.encoded.empty() == options.arrays.empty()) {
    return Invalid(absl::StrCat("needs either encoded images or arrays, got ",
                                options.encoded.size(), " images and ",
                                options.arrays.size(), " arrays"));
  }
  if (!options.encoded.empty()) {
    MILLRACE_RETURN_IF_ERROR(
        CheckCount("encoded", options.encoded.size(), options.size));
  }
  MILLRACE_RETURN_IF_ERROR(CheckArrays(options));
  MILLRACE_RETURN_IF_ERROR(CheckLabels(options));
  return CheckKeys(options);
}

Descriptor RawDescriptor(const ArrayField& field) {
  return {.encoded = false,
          .dtype = field.dtype,
          .shape = field.shape,
          .layout = field.layout};
}

}  // namespace

absl::StatusOr<std::unique_ptr<MemoryDataset>> MemoryDataset::Create(
    MemoryDatasetOptions options) {
  MILLRACE_RETURN_IF_ERROR(Validate(options));
  return std::unique_ptr<MemoryDataset>(new MemoryDataset(std::move(options)));
}

MemoryDataset::MemoryDataset(MemoryDatasetOptions options)
    : options_(std::move(options)) {
  if (options_.arrays.empty()) fields_ = Dataset::fields();
  for (const ArrayField& field : options_.arrays) {
    fields_.push_back({field.name, RawDescriptor(field)});
  }
  FingerprintBuilder builder(options_.class_names);
  for (int64_t i = 0; i < options_.size; ++i) {
    builder.Add(KeyAt(i), LabelAt(i));
  }
  fingerprint_ = builder.Finish();
}

std::string MemoryDataset::KeyAt(int64_t index) const {
  return options_.keys.empty() ? absl::StrCat(index) : options_.keys[index];
}

int64_t MemoryDataset::LabelAt(int64_t index) const {
  return options_.labels.empty() ? 0 : options_.labels[index];
}

absl::Status MemoryDataset::CheckIndex(int64_t index) const {
  if (index >= 0 && index < options_.size) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("sample ", index, " of ",
                                            options_.size, " in ", Describe()));
}

absl::Status MemoryDataset::Read(int64_t index, Sample* sample) const {
  sample->Clear();
  MILLRACE_RETURN_IF_ERROR(CheckIndex(index));
  if (!options_.encoded.empty()) {
    sample->AddField(options_.encoded[index], Descriptor{});
  }
  for (size_t f = 0; f < options_.arrays.size(); ++f) {
    const Descriptor& descriptor = fields_[f].descriptor;
    const size_t bytes = static_cast<size_t>(ElementCount(descriptor.shape)) *
                         ByteSize(descriptor.dtype);
    const char* data = static_cast<const char*>(options_.arrays[f].data);
    sample->AddField({data + static_cast<size_t>(index) * bytes, bytes},
                     descriptor);
  }
  sample->SetLabel(LabelAt(index));
  return absl::OkStatus();
}

absl::StatusOr<std::string> MemoryDataset::Key(int64_t index) const {
  MILLRACE_RETURN_IF_ERROR(CheckIndex(index));
  return KeyAt(index);
}

std::string MemoryDataset::Describe() const {
  std::string text = absl::StrCat("memory: ", options_.size);
  if (options_.arrays.empty()) {
    absl::StrAppend(&text, " images");
  } else {
    absl::StrAppend(&text, " samples of ", options_.arrays.size(), " arrays");
  }
  if (!options_.class_names.empty()) {
    absl::StrAppend(&text, " in ", options_.class_names.size(), " classes");
  }
  return text;
}

int64_t MemoryDataset::IndexBytes() const {
  size_t bytes = options_.labels.capacity() * sizeof(int64_t) +
                 options_.encoded.capacity() * sizeof(std::string);
  for (const auto* names : {&options_.keys, &options_.class_names}) {
    bytes += names->capacity() * sizeof(std::string);
    for (const std::string& name : *names) bytes += name.capacity();
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace millrace::storage
