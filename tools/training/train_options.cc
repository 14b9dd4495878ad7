#include "tools/training/train_options.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/status_macros.h"

namespace millrace::tools::training {
namespace {

template <typename T, size_t N>
using NameTable = std::array<std::pair<T, absl::string_view>, N>;

constexpr NameTable<ModelKind, 3> kModelKinds = {
    {{ModelKind::kSmallCnn, "small_cnn"},
     {ModelKind::kResNet18, "resnet18"},
     {ModelKind::kResNet50, "resnet50"}}};
constexpr NameTable<Norm, 2> kNorms = {
    {{Norm::kBatch, "batch"}, {Norm::kGroup, "group"}}};
constexpr NameTable<Precision, 2> kPrecisions = {
    {{Precision::kFloat32, "fp32"}, {Precision::kFloat64, "fp64"}}};
constexpr NameTable<DeviceChoice, 3> kDevices = {
    {{DeviceChoice::kAuto, "auto"},
     {DeviceChoice::kCpu, "cpu"},
     {DeviceChoice::kCuda, "cuda"}}};

template <typename Table, typename T>
absl::string_view NameIn(const Table& table, T value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return "?";
}

template <typename T, size_t N>
absl::StatusOr<T> ParseIn(const NameTable<T, N>& table, absl::string_view flag,
                          absl::string_view text) {
  std::string names;
  for (const auto& [value, name] : table) {
    if (name == text) return value;
    absl::StrAppend(&names, names.empty() ? "" : ", ", name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--", flag, "=", EscapeForMessage(text), ": want one of ", names));
}

absl::Status OutOfRange(absl::string_view flag, absl::string_view value,
                        absl::string_view range) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": want ", range));
}

absl::Status CheckInt(absl::string_view flag, int64_t value, int64_t least,
                      int64_t most = std::numeric_limits<int64_t>::max()) {
  if (value >= least && value <= most) return absl::OkStatus();
  return OutOfRange(flag, absl::StrCat(value),
                    most == std::numeric_limits<int64_t>::max()
                        ? absl::StrCat("at least ", least)
                        : absl::StrCat(least, " to ", most));
}

// Values of the half-open range [0, 1).
absl::Status CheckShare(absl::string_view flag, double value) {
  if (value >= 0 && value < 1) return absl::OkStatus();
  return OutOfRange(flag, absl::StrCat(value), "at least 0 and below 1");
}

absl::Status CheckNotNegative(absl::string_view flag, double value) {
  if (value >= 0 && std::isfinite(value)) return absl::OkStatus();
  return OutOfRange(flag, absl::StrCat(value), "a finite number, at least 0");
}

// The shortest text that reads back as the same number, so that equal texts
// mean equal numbers.
std::string Exact(double value) {
  char text[32];
  const std::to_chars_result end =
      std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

}  // namespace

absl::string_view Name(ModelKind kind) { return NameIn(kModelKinds, kind); }
absl::string_view Name(Norm norm) { return NameIn(kNorms, norm); }
absl::string_view Name(Precision precision) {
  return NameIn(kPrecisions, precision);
}
absl::string_view Name(DeviceChoice device) { return NameIn(kDevices, device); }

absl::StatusOr<ModelKind> ParseModelKind(absl::string_view name) {
  return ParseIn(kModelKinds, "model", name);
}
absl::StatusOr<Norm> ParseNorm(absl::string_view name) {
  return ParseIn(kNorms, "norm", name);
}
absl::StatusOr<Precision> ParsePrecision(absl::string_view name) {
  return ParseIn(kPrecisions, "precision", name);
}
absl::StatusOr<DeviceChoice> ParseDeviceChoice(absl::string_view name) {
  return ParseIn(kDevices, "device", name);
}

absl::Status TrainOptions::Validate() const {
  if (train_data.empty() || val_data.empty()) {
    return absl::InvalidArgumentError(
        "no data: give --data=DIR, a folder with train/ and val/, or "
        "--train_data and --val_data");
  }
  // A preset's name is the pipeline's to judge, but before a data set is
  // listed.
  if (augment != "train" && augment != "train_full" && augment != "eval") {
    return OutOfRange("augment", EscapeForMessage(augment),
                      "one of train, train_full, eval");
  }
  MILLRACE_RETURN_IF_ERROR(CheckInt("image_size", image_size, 16, 4096));
  MILLRACE_RETURN_IF_ERROR(
      CheckInt("epochs", epochs, 1, std::numeric_limits<int32_t>::max()));
  MILLRACE_RETURN_IF_ERROR(CheckInt("global_batch_size", global_batch_size, 1));
  MILLRACE_RETURN_IF_ERROR(
      CheckInt("accumulate", accumulate, 1, global_batch_size));
  if (!(learning_rate > 0) || !std::isfinite(learning_rate)) {
    return OutOfRange("learning_rate", absl::StrCat(learning_rate),
                      "a finite number above 0");
  }
  MILLRACE_RETURN_IF_ERROR(CheckShare("momentum", momentum));
  MILLRACE_RETURN_IF_ERROR(CheckNotNegative("weight_decay", weight_decay));
  MILLRACE_RETURN_IF_ERROR(CheckShare("label_smoothing", label_smoothing));
  MILLRACE_RETURN_IF_ERROR(CheckNotNegative("warmup_epochs", warmup_epochs));
  MILLRACE_RETURN_IF_ERROR(CheckInt("max_skipped_steps", max_skipped_steps, 1));
  MILLRACE_RETURN_IF_ERROR(
      CheckInt("checkpoint_every_steps", checkpoint_every_steps, 0));
  MILLRACE_RETURN_IF_ERROR(CheckInt("keep_checkpoints", keep_checkpoints, 1));
  if (checkpoint_dir.empty() && checkpoint_every_steps > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--checkpoint_every_steps=", checkpoint_every_steps,
                     " needs --checkpoint_dir"));
  }
  if (resume.empty()) {
    return OutOfRange("resume", "", "auto, none, or a checkpoint's path");
  }
  if (checkpoint_dir.empty() && resume == "auto") {
    return absl::InvalidArgumentError("--resume=auto needs --checkpoint_dir");
  }
  if (metrics_steps && metrics_json.empty()) {
    return absl::InvalidArgumentError("--metrics_steps needs --metrics_json");
  }
  if (workers.has_value()) {
    MILLRACE_RETURN_IF_ERROR(CheckInt("workers", *workers, 0, 1024));
  }
  MILLRACE_RETURN_IF_ERROR(CheckInt("prefetch", prefetch, 1, 1024));
  if (intra_op_threads.has_value()) {
    MILLRACE_RETURN_IF_ERROR(
        CheckInt("intra_op_threads", *intra_op_threads, 1, 1024));
  }
  if (timeout <= absl::ZeroDuration()) {
    return OutOfRange("timeout", absl::FormatDuration(timeout), "above 0");
  }
  return absl::OkStatus();
}

Settings TrainOptions::Architecture() const {
  return {{"model", std::string(Name(model))},
          {"norm", std::string(Name(norm))},
          {"precision", std::string(Name(precision))},
          {"image_size", absl::StrCat(image_size)}};
}

Settings TrainOptions::Course() const {
  return {{"epochs", absl::StrCat(epochs)},
          {"learning_rate", Exact(learning_rate)},
          {"momentum", Exact(momentum)},
          {"weight_decay", Exact(weight_decay)},
          {"label_smoothing", Exact(label_smoothing)},
          {"warmup_epochs", Exact(warmup_epochs)}};
}

Settings TrainOptions::Shared() const {
  Settings settings = Architecture();
  for (auto& setting : Course()) settings.push_back(std::move(setting));
  const auto add = [&settings](absl::string_view name, std::string value) {
    settings.emplace_back(std::string(name), std::move(value));
  };
  add("global_batch_size", absl::StrCat(global_batch_size));
  add("accumulate", absl::StrCat(accumulate));
  add("augment", augment);
  add("order", std::string(distributed::Name(order)));
  add("device", std::string(Name(device)));
  add("max_skipped_steps", absl::StrCat(max_skipped_steps));
  add("resume", resume);
  // Whether and when ranks meet for them; the paths themselves are rank 0's.
  add("checkpoint_dir", checkpoint_dir.empty() ? "none" : "given");
  add("checkpoint_every_steps", absl::StrCat(checkpoint_every_steps));
  add("digest_log", digest_log.empty() ? "none" : "given");
  return settings;
}

}  // namespace millrace::tools::training
