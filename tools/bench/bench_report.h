#ifndef MILLRACE_TOOLS_BENCH_BENCH_REPORT_H_
#define MILLRACE_TOOLS_BENCH_BENCH_REPORT_H_

// A measurement as text.

#include <string>

#include "absl/strings/string_view.h"
#include "tools/bench/measure.h"

namespace millrace::tools {

// One JSON object on one line, without a line end:
// {"images_per_s":..,"cpu_ms_per_image":..,"first_batch_s":..,"pss_mib":..,...}.
// "pss_mib" is null where it is unknown. METRICS.md has all names.
std::string BenchJson(absl::string_view task, const Measurement& measurement);

// The same for people, in several lines, with the machine and the spread over
// intervals.
std::string BenchTable(absl::string_view task, const Measurement& measurement);

}  // namespace millrace::tools

#endif  // MILLRACE_TOOLS_BENCH_BENCH_REPORT_H_
