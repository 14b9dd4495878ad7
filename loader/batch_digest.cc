#include "loader/batch_digest.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "base/tensor.h"

namespace millrace::loader {
namespace {

void Add(const Hash128& term, Hash128* sum) {
  sum->high += term.high;
  sum->low += term.low;
}

// Both halves as 64 hexadecimal digits.
absl::StatusOr<BatchDigest> FromHex(absl::string_view hex) {
  BatchDigest digest;
  MILLRACE_ASSIGN_OR_RETURN(digest.indices,
                            Hash128::FromHex(hex.substr(0, 32)));
  MILLRACE_ASSIGN_OR_RETURN(
      digest.pixels, Hash128::FromHex(hex.size() < 32 ? "" : hex.substr(32)));
  return digest;
}

}  // namespace

BatchDigest& BatchDigest::operator+=(const BatchDigest& other) {
  Add(other.indices, &indices);
  Add(other.pixels, &pixels);
  return *this;
}

std::string BatchDigest::ToString() const {
  return absl::StrCat("indices=", indices.ToHex(), " pixels=", pixels.ToHex());
}

BatchDigest DigestOf(const Batch& batch) {
  BatchDigest digest;
  for (int64_t i = 0; i < batch.size(); ++i) {
    const int64_t position = batch.positions()[i];
    Add(Hasher().AddInt(position).AddInt(batch.indices()[i]).Finish(),
        &digest.indices);
    Hasher pixels;
    pixels.AddInt(position);
    for (const NamedTensor& named : batch.tensors()) {
      const TensorView& tensor = named.tensor;
      if (tensor.shape.empty() || tensor.shape.front() != batch.size()) {
        continue;
      }
      const int64_t bytes = tensor.ByteCount() / batch.size();
      pixels.AddString(
          {tensor.As<const char>() + i * bytes, static_cast<size_t>(bytes)});
    }
    Add(pixels.Finish(), &digest.pixels);
  }
  return digest;
}

absl::StatusOr<BatchDigest> SumOverRanks(
    const BatchDigest& digest, distributed::Communicator& communicator,
    absl::Duration timeout) {
  MILLRACE_ASSIGN_OR_RETURN(
      const std::vector<std::string> parts,
      communicator.AllGather(
          absl::StrCat(digest.indices.ToHex(), digest.pixels.ToHex()),
          timeout));
  BatchDigest sum;
  for (const std::string& part : parts) {
    MILLRACE_ASSIGN_OR_RETURN(const BatchDigest term, FromHex(part));
    sum += term;
  }
  return sum;
}

}  // namespace millrace::loader
