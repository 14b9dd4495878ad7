#include "loader/loader_state.h"

#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace millrace::loader {
namespace {

using Json = nlohmann::ordered_json;

// Of the text. Raise it when the meaning of a field changes.
constexpr int64_t kVersion = 1;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

absl::Status BadField(absl::string_view name, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("loader state: field ", name, " ", what));
}

absl::StatusOr<int64_t> IntField(const Json& json, const char* name,
                                 int64_t least, int64_t most) {
  const auto field = json.find(name);
  if (field == json.end()) return BadField(name, "is missing");
  // Anything above 2^63 is unsigned to the parser.
  if (!field->is_number_integer() ||
      (field->is_number_unsigned() &&
       field->get<uint64_t>() > static_cast<uint64_t>(kMaxInt64))) {
    return BadField(name, "is no 64-bit integer");
  }
  const int64_t value = field->get<int64_t>();
  if (value < least || value > most) {
    return BadField(name, absl::StrCat("is ", value, ", outside [", least, ", ",
                                       most, "]"));
  }
  return value;
}

absl::StatusOr<uint64_t> SeedField(const Json& json) {
  const auto field = json.find("seed");
  if (field == json.end()) return BadField("seed", "is missing");
  if (!field->is_number_unsigned()) {
    return BadField("seed", "is no unsigned 64-bit integer");
  }
  return field->get<uint64_t>();
}

absl::StatusOr<std::string> TextField(const Json& json, const char* name) {
  const auto field = json.find(name);
  if (field == json.end()) return BadField(name, "is missing");
  if (!field->is_string()) return BadField(name, "is no string");
  std::string text;
  if (!absl::CUnescape(field->get_ref<const std::string&>(), &text)) {
    return BadField(name, "has a broken escape sequence");
  }
  return text;
}

absl::StatusOr<Hash128> HashField(const Json& json, const char* name) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string hex, TextField(json, name));
  absl::StatusOr<Hash128> hash = Hash128::FromHex(hex);
  if (!hash.ok()) return BadField(name, "is no hash");
  return hash;
}

}  // namespace

std::string LoaderState::Serialize() const {
  Json json;
  json["version"] = kVersion;
  json["fingerprint"] = fingerprint.ToHex();
  json["dataset_size"] = dataset_size;
  json["seed"] = seed;
  json["batch_size"] = batch_size;
  // JSON can't hold arbitrary bytes, which a user's own sampler may use.
  json["sampler"] = absl::CEscape(sampler);
  json["tail"] = absl::CEscape(tail);
  json["transform"] = transform.ToHex();
  json["epoch"] = epoch;
  json["step"] = step;
  return json.dump();
}

absl::StatusOr<LoaderState> LoaderState::Parse(absl::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::DataLossError("loader state: not a JSON object");
  }
  // First, since another version may have other fields.
  MILLRACE_RETURN_IF_ERROR(
      IntField(json, "version", kVersion, kVersion).status());
  LoaderState state;
  MILLRACE_ASSIGN_OR_RETURN(state.fingerprint, HashField(json, "fingerprint"));
  MILLRACE_ASSIGN_OR_RETURN(state.dataset_size,
                            IntField(json, "dataset_size", 0, kMaxInt64));
  MILLRACE_ASSIGN_OR_RETURN(state.seed, SeedField(json));
  MILLRACE_ASSIGN_OR_RETURN(state.batch_size,
                            IntField(json, "batch_size", 1, kMaxInt64));
  MILLRACE_ASSIGN_OR_RETURN(state.sampler, TextField(json, "sampler"));
  MILLRACE_ASSIGN_OR_RETURN(state.tail, TextField(json, "tail"));
  MILLRACE_ASSIGN_OR_RETURN(state.transform, HashField(json, "transform"));
  MILLRACE_ASSIGN_OR_RETURN(state.epoch,
                            IntField(json, "epoch", 0, (int64_t{1} << 31) - 1));
  MILLRACE_ASSIGN_OR_RETURN(state.step, IntField(json, "step", 0, kMaxInt64));
  return state;
}

absl::Status LoaderState::CheckSameRun(const LoaderState& other) const {
  struct Field {
    absl::string_view name;
    std::string saved;
    std::string now;
  };
  const Field fields[] = {
      {"data set (fingerprint)", fingerprint.ToHex(),
       other.fingerprint.ToHex()},
      {"dataset_size", absl::StrCat(dataset_size),
       absl::StrCat(other.dataset_size)},
      {"seed", absl::StrCat(seed), absl::StrCat(other.seed)},
      {"batch_size", absl::StrCat(batch_size), absl::StrCat(other.batch_size)},
      {"sampler", absl::CEscape(sampler), absl::CEscape(other.sampler)},
      {"tail", absl::CEscape(tail), absl::CEscape(other.tail)},
      {"transform (hash)", transform.ToHex(), other.transform.ToHex()},
  };
  for (const auto& [name, saved, now] : fields) {
    if (saved == now) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("going on from a saved state needs the same ", name,
                     ": saved ", saved, ", now ", now));
  }
  return absl::OkStatus();
}

}  // namespace millrace::loader
