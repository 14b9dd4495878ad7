#include "tools/training/checkpoint.h"

#include <bit>
#include <cstring>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace millrace::tools::training {
namespace {

using Json = nlohmann::ordered_json;

// Changes with the layout and with the meaning of any field.
constexpr absl::string_view kMagic = "MRCKPT01";
constexpr size_t kHashDigits = 32;

static_assert(std::endian::native == std::endian::little);

Json ToJson(const Settings& settings) {
  Json json = Json::object();
  for (const auto& [name, value] : settings) json[name] = value;
  return json;
}

Settings SettingsFrom(const Json& json) {
  Settings settings;
  for (const auto& [name, value] : json.items()) {
    settings.emplace_back(name, value.get<std::string>());
  }
  return settings;
}

Json Header(const Checkpoint& checkpoint) {
  Json json;
  json["loader"] = checkpoint.loader.Serialize();
  json["epochs_done"] = checkpoint.epochs_done;
  json["totals"] = {{"images", checkpoint.totals.images},
                    {"correct", checkpoint.totals.correct},
                    {"loss_sum", checkpoint.totals.loss_sum},
                    {"skipped_steps", checkpoint.totals.skipped_steps}};
  json["architecture"] = ToJson(checkpoint.architecture);
  json["course"] = ToJson(checkpoint.course);
  Json& tensors = json["tensors"] = Json::array();
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"dtype", static_cast<int>(tensor.dtype)},
                       {"shape", std::vector<int64_t>(tensor.shape.begin(),
                                                      tensor.shape.end())}});
  }
  return json;
}

absl::StatusOr<DType> DTypeFrom(int number) {
  if (number < static_cast<int>(DType::kUInt8) ||
      number > static_cast<int>(DType::kFloat64)) {
    return absl::DataLossError(absl::StrCat("unknown type ", number));
  }
  return static_cast<DType>(number);
}

// Takes the tensors that `list` describes off the front of `data`.
absl::StatusOr<std::vector<CheckpointTensor>> TensorsFrom(
    const Json& list, absl::string_view data) {
  std::vector<CheckpointTensor> tensors;
  for (const Json& json : list) {
    CheckpointTensor tensor;
    tensor.name = json.at("name").get<std::string>();
    MILLRACE_ASSIGN_OR_RETURN(tensor.dtype,
                              DTypeFrom(json.at("dtype").get<int>()));
    const auto shape = json.at("shape").get<std::vector<int64_t>>();
    tensor.shape.assign(shape.begin(), shape.end());
    const int64_t elements = ElementCount(tensor.shape);
    const size_t element_bytes = ByteSize(tensor.dtype);
    if (elements < 0 ||
        static_cast<uint64_t>(elements) > data.size() / element_bytes) {
      return absl::DataLossError(
          absl::StrCat("tensor ", tensor.name, " is cut off"));
    }
    const size_t bytes = static_cast<size_t>(elements) * element_bytes;
    tensor.bytes = std::string(data.substr(0, bytes));
    data.remove_prefix(bytes);
    tensors.push_back(std::move(tensor));
  }
  if (!data.empty()) {
    return absl::DataLossError(
        absl::StrCat(data.size(), " bytes too many after the tensors"));
  }
  return tensors;
}

// May throw nlohmann's exceptions: fields that are missing or of another type.
absl::StatusOr<Checkpoint> CheckpointFrom(const Json& json,
                                          absl::string_view data) {
  Checkpoint checkpoint;
  MILLRACE_ASSIGN_OR_RETURN(
      checkpoint.loader,
      loader::LoaderState::Parse(json.at("loader").get<std::string>()));
  checkpoint.epochs_done = json.at("epochs_done").get<int64_t>();
  const Json& totals = json.at("totals");
  checkpoint.totals.images = totals.at("images").get<int64_t>();
  checkpoint.totals.correct = totals.at("correct").get<int64_t>();
  checkpoint.totals.loss_sum = totals.at("loss_sum").get<double>();
  checkpoint.totals.skipped_steps = totals.at("skipped_steps").get<int64_t>();
  checkpoint.architecture = SettingsFrom(json.at("architecture"));
  checkpoint.course = SettingsFrom(json.at("course"));
  MILLRACE_ASSIGN_OR_RETURN(checkpoint.tensors,
                            TensorsFrom(json.at("tensors"), data));
  return checkpoint;
}

}  // namespace

std::string SerializeCheckpoint(const Checkpoint& checkpoint) {
  const std::string header = Header(checkpoint).dump();
  const uint64_t header_bytes = header.size();
  size_t total = kMagic.size() + sizeof(header_bytes) + header.size();
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    total += tensor.bytes.size();
  }
  std::string bytes;
  bytes.reserve(total + kHashDigits);
  bytes.append(kMagic.data(), kMagic.size());
  bytes.append(reinterpret_cast<const char*>(&header_bytes),
               sizeof(header_bytes));
  bytes.append(header);
  for (const CheckpointTensor& tensor : checkpoint.tensors) {
    bytes.append(tensor.bytes);
  }
  return bytes.append(HashBytes(bytes).ToHex());
}

absl::StatusOr<Checkpoint> ParseCheckpoint(absl::string_view bytes) {
  if (!absl::ConsumePrefix(&bytes, kMagic)) {
    return absl::DataLossError(absl::StrCat(
        "no checkpoint of this version: it does not start with ", kMagic));
  }
  uint64_t header_bytes = 0;
  if (bytes.size() < sizeof(header_bytes) + kHashDigits) {
    return absl::DataLossError("cut off in its header");
  }
  const absl::string_view hash = bytes.substr(bytes.size() - kHashDigits);
  const absl::string_view hashed(bytes.data() - kMagic.size(),
                                 bytes.size() + kMagic.size() - kHashDigits);
  if (HashBytes(hashed).ToHex() != hash) {
    return absl::DataLossError("its checksum is wrong: cut off or damaged");
  }
  std::memcpy(&header_bytes, bytes.data(), sizeof(header_bytes));
  bytes.remove_prefix(sizeof(header_bytes));
  bytes.remove_suffix(kHashDigits);
  if (header_bytes > bytes.size()) {
    return absl::DataLossError("its header is longer than the file");
  }
  const absl::string_view header = bytes.substr(0, header_bytes);
  try {
    return CheckpointFrom(Json::parse(header.begin(), header.end()),
                          bytes.substr(header_bytes));
  } catch (const std::exception& error) {
    return absl::DataLossError(absl::StrCat("bad header: ", error.what()));
  }
}

}  // namespace millrace::tools::training
