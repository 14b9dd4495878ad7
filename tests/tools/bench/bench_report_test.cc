#include "tools/bench/bench_report.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace millrace::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Measurement SomeMeasurement() {
  Measurement measurement;
  measurement.description = "train\ndata: folder /d\nbatch size 64";
  measurement.first_batch = absl::Milliseconds(250);
  for (const int64_t images : {100, 300, 200, 400, 200}) {
    measurement.intervals.push_back({.images = images,
                                     .wall = absl::Seconds(1),
                                     .cpu = absl::Milliseconds(600)});
  }
  measurement.total = {
      .images = 1200, .wall = absl::Seconds(5), .cpu = absl::Seconds(3)};
  measurement.counters = {.bytes_read = 50'000'000,
                          .wait = absl::Milliseconds(1250)};
  measurement.epochs_checked = 3;
  measurement.pss_bytes = 96 << 20;
  return measurement;
}

TEST(BenchReportTest, JsonIsOneLineWithAllNumbers) {
  const std::string text = BenchJson("t1", SomeMeasurement());
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(R"({
    "images_per_s": 240.0, "cpu_ms_per_image": 2.5, "first_batch_s": 0.25,
    "pss_mib": 96.0, "task": "t1", "images": 1200, "seconds": 5.0,
    "intervals": 5, "images_per_s_median": 200.0, "images_per_s_min": 100.0,
    "images_per_s_max": 400.0, "mb_per_s": 10.0, "wait_share": 0.25})"));
}

TEST(BenchReportTest, UnknownMemoryIsNull) {
  Measurement measurement = SomeMeasurement();
  measurement.pss_bytes = std::nullopt;
  EXPECT_THAT(BenchJson("t1", measurement), HasSubstr("\"pss_mib\":null"));
  EXPECT_THAT(BenchTable("t1", measurement), HasSubstr("PSS unknown"));
}

TEST(BenchReportTest, TableNamesConfigurationMachineAndUnits) {
  EXPECT_THAT(
      BenchTable("t1", SomeMeasurement()),
      AllOf(
          HasSubstr("task t1: train\ndata: folder /d\n"),
          HasSubstr("CPUs allowed"),
          HasSubstr("throughput       200.00     100.00     400.00  images/s"),
          HasSubstr("CPU                3.00       1.50       6.00  ms an "
                    "image"),
          HasSubstr("1200 images in 5 intervals of together 5.00 s: 240.0 "
                    "images/s, 10.0 MB/s read, 25 % of the time waiting"),
          HasSubstr("first batch after 0.250 s, PSS 96 MiB"),
          HasSubstr("in each of 3 whole epochs")));
}

}  // namespace
}  // namespace millrace::tools
