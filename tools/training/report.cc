#include "tools/training/report.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace millrace::tools::training {
namespace {

using Json = nlohmann::ordered_json;

void AddSpeed(const SpeedReport& speed, Json* json) {
  (*json)["images"] = speed.images;
  (*json)["train_seconds"] = absl::ToDoubleSeconds(speed.time);
  (*json)["images_per_s"] = speed.ImagesPerSecond();
  (*json)["wait_share"] = speed.wait_share;
}

// Null members where there is none.
void AddValidation(const std::optional<ValidationReport>& validation,
                   Json* json) {
  const auto add = [&](const char* name, auto member) {
    if (validation.has_value()) {
      (*json)[name] = (*validation).*member;
    } else {
      (*json)[name] = nullptr;
    }
  };
  add("val_images", &ValidationReport::images);
  add("val_loss", &ValidationReport::loss);
  add("val_accuracy", &ValidationReport::accuracy);
  add("val_top5_accuracy", &ValidationReport::top5_accuracy);
}

std::string SpeedText(const SpeedReport& speed) {
  return absl::StrFormat("%.0f images/s, waiting for data %.1f%%",
                         speed.ImagesPerSecond(), 100 * speed.wait_share);
}

// Whether the JSON line `line` is of a step or epoch before `step` of `epoch`.
bool IsBefore(absl::string_view line, int64_t epoch, int64_t step) {
  const Json json = Json::parse(line.begin(), line.end(), /*cb=*/nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  const auto number = [&json](const char* name) -> int64_t {
    const auto field = json.find(name);
    return field != json.end() && field->is_number_integer()
               ? field->get<int64_t>()
               : -1;
  };
  const auto type = json.find("type");
  if (type == json.end() || number("epoch") < 0) return false;
  if (*type == "epoch") return number("epoch") < epoch;
  return *type == "step" && number("step") >= 0 &&
         std::pair(number("epoch"), number("step")) < std::pair(epoch, step);
}

}  // namespace

double SpeedReport::ImagesPerSecond() const {
  const double seconds = absl::ToDoubleSeconds(time);
  return seconds > 0 ? static_cast<double>(images) / seconds : 0;
}

std::string ToJson(const StepReport& report) {
  Json json;
  json["type"] = "step";
  json["epoch"] = report.epoch;
  json["step"] = report.step;
  json["images"] = report.images;
  json["loss"] = report.loss;
  json["learning_rate"] = report.learning_rate;
  json["skipped"] = report.skipped;
  return json.dump();
}

std::string ToJson(const EpochReport& report) {
  Json json;
  json["type"] = "epoch";
  json["epoch"] = report.epoch;
  json["epochs"] = report.epochs;
  json["train_loss"] = report.train_loss;
  json["train_accuracy"] = report.train_accuracy;
  json["skipped_steps"] = report.skipped_steps;
  json["learning_rate"] = report.learning_rate;
  AddSpeed(report.speed, &json);
  json["hidden_share"] = report.hidden_share;
  AddValidation(report.validation, &json);
  json["parameters"] = report.parameters;
  return json.dump();
}

std::string ToJson(const TrainSummary& summary) {
  Json json;
  json["type"] = "summary";
  json["epochs_done"] = summary.epochs_done;
  json["epochs"] = summary.epochs;
  if (summary.stopped_by.empty()) {
    json["stopped_by"] = nullptr;
  } else {
    json["stopped_by"] = summary.stopped_by;
  }
  json["ranks"] = summary.ranks;
  json["seed"] = summary.seed;
  AddValidation(summary.validation, &json);
  AddSpeed(summary.speed, &json);
  json["total_seconds"] = absl::ToDoubleSeconds(summary.total_time);
  json["parameters"] = summary.parameters;
  return json.dump();
}

std::string ToText(const EpochReport& report) {
  return absl::StrFormat(
      "epoch %d/%d: loss %.4f, accuracy %.4f, validation loss %.4f, accuracy "
      "%.4f (top 5 %.4f); %s%s",
      report.epoch + 1, report.epochs, report.train_loss, report.train_accuracy,
      report.validation.loss, report.validation.accuracy,
      report.validation.top5_accuracy, SpeedText(report.speed),
      report.skipped_steps == 0
          ? ""
          : absl::StrCat("; steps left out: ", report.skipped_steps));
}

std::string ToText(const TrainSummary& summary) {
  std::string text =
      absl::StrFormat("%s after %d of %d epochs",
                      summary.stopped_by.empty()
                          ? "done"
                          : absl::StrCat("stopped by ", summary.stopped_by),
                      summary.epochs_done, summary.epochs);
  if (summary.validation.has_value()) {
    absl::StrAppendFormat(&text, ": validation accuracy %.4f (%d images)",
                          summary.validation->accuracy,
                          summary.validation->images);
  }
  return absl::StrFormat("%s; %s; %.1f s in all", text,
                         SpeedText(summary.speed),
                         absl::ToDoubleSeconds(summary.total_time));
}

absl::StatusOr<LineFile> ContinueMetrics(const std::string& path, int64_t epoch,
                                         int64_t step) {
  return LineFile::Continue(path, [epoch, step](absl::string_view line) {
    return IsBefore(line, epoch, step);
  });
}

}  // namespace millrace::tools::training
