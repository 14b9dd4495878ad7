#include "tools/bench/bench_report.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/cpu.h"
#include "nlohmann/json.hpp"

namespace millrace::tools {
namespace {

std::vector<double> Values(const Measurement& measurement,
                           const std::function<double(const Interval&)>& of) {
  std::vector<double> values;
  for (const Interval& interval : measurement.intervals) {
    values.push_back(of(interval));
  }
  return values;
}

double MegabytesPerSecond(const Measurement& measurement) {
  const double seconds = absl::ToDoubleSeconds(measurement.total.wall);
  return seconds > 0 ? static_cast<double>(measurement.counters.bytes_read) /
                           1e6 / seconds
                     : 0;
}

double WaitShare(const Measurement& measurement) {
  return measurement.total.wall > absl::ZeroDuration()
             ? absl::FDivDuration(measurement.counters.wait,
                                  measurement.total.wall)
             : 0;
}

double Mebibytes(int64_t bytes) { return static_cast<double>(bytes) / 1048576; }

// "AMD EPYC 7R13 Processor", or "unknown processor".
std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, "model name")) continue;
    rest.remove_prefix(std::min(rest.find(':') + 1, rest.size()));
    return std::string(absl::StripAsciiWhitespace(rest));
  }
  return "unknown processor";
}

std::string TableRow(absl::string_view name, const std::vector<double>& values,
                     absl::string_view unit) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return absl::StrFormat("%-12s %10.2f %10.2f %10.2f  %s\n", name,
                         Median(values), *least, *most, unit);
}

}  // namespace

std::string BenchJson(absl::string_view task, const Measurement& measurement) {
  const std::vector<double> rates =
      Values(measurement, &Interval::ImagesPerSecond);
  const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
  nlohmann::ordered_json json;
  json["images_per_s"] = measurement.total.ImagesPerSecond();
  json["cpu_ms_per_image"] = measurement.total.CpuMillisecondsPerImage();
  json["first_batch_s"] = absl::ToDoubleSeconds(measurement.first_batch);
  json["pss_mib"] = nullptr;
  if (measurement.pss_bytes.has_value()) {
    json["pss_mib"] = Mebibytes(*measurement.pss_bytes);
  }
  json["task"] = std::string(task);
  json["images"] = measurement.total.images;
  json["seconds"] = absl::ToDoubleSeconds(measurement.total.wall);
  json["intervals"] = measurement.intervals.size();
  json["images_per_s_median"] = Median(rates);
  json["images_per_s_min"] = *least;
  json["images_per_s_max"] = *most;
  json["mb_per_s"] = MegabytesPerSecond(measurement);
  json["wait_share"] = WaitShare(measurement);
  return json.dump();
}

std::string BenchTable(absl::string_view task, const Measurement& measurement) {
  std::string text =
      absl::StrFormat("task %s: %s\nmachine: %s, %d CPUs allowed\n\n", task,
                      measurement.description, ProcessorName(), AllowedCpus());
  absl::StrAppendFormat(&text, "%-12s %10s %10s %10s\n", "", "median", "min",
                        "max");
  text += TableRow("throughput",
                   Values(measurement, &Interval::ImagesPerSecond), "images/s");
  text +=
      TableRow("CPU", Values(measurement, &Interval::CpuMillisecondsPerImage),
               "ms an image");
  absl::StrAppendFormat(
      &text,
      "\n%d images in %d intervals of together %.2f s: %.1f images/s, %.1f "
      "MB/s read, %.0f %% of the time waiting for data\n",
      measurement.total.images, measurement.intervals.size(),
      absl::ToDoubleSeconds(measurement.total.wall),
      measurement.total.ImagesPerSecond(), MegabytesPerSecond(measurement),
      100 * WaitShare(measurement));
  absl::StrAppendFormat(
      &text, "first batch after %.3f s, PSS %s\n",
      absl::ToDoubleSeconds(measurement.first_batch),
      measurement.pss_bytes.has_value()
          ? absl::StrFormat("%.0f MiB", Mebibytes(*measurement.pss_bytes))
          : "unknown");
  absl::StrAppendFormat(
      &text, "checked: each sample once in each of %d whole epochs\n",
      measurement.epochs_checked);
  return text;
}

}  // namespace millrace::tools
