#ifndef MILLRACE_BASE_LOGGING_H_
#define MILLRACE_BASE_LOGGING_H_

// Lines for people, on standard error, with the rank in front where there are
// several:
//
//   MILLRACE_LOG(kWarning) << "cpus allowed: 1, workers: 8";
//   [rank 1] warning: cpus allowed: 1, workers: 8
//
// A line is written by one write(2), so lines of threads and ranks never mix.

#include <functional>
#include <sstream>
#include <string>

#include "absl/strings/string_view.h"

#define MILLRACE_LOG(severity) \
  ::millrace::LogLine(::millrace::LogSeverity::severity).stream()

namespace millrace {

enum class LogSeverity { kInfo, kWarning, kError };

// The rank named in front of each line; none while `world_size` is 1. Call it
// once, when the rank is known. Thread-safe.
void SetLogRank(int rank, int world_size);

// Drops lines below `severity`. Thread-safe.
void SetMinLogSeverity(LogSeverity severity);

// Receives whole lines, each with prefix and line end, in place of standard
// error (for progress bars and tests); null restores standard error.
// Thread-safe; the sink is called by any thread, one at a time, and must not
// log itself.
void SetLogSink(std::function<void(absl::string_view line)> sink);

// `text` with \ as \\, and as \xNN each byte of what is not valid UTF-8, of
// control characters (C0, DEL and C1), and of Unicode's line and paragraph
// separators, so that a file name with a line end, a terminal's command or an
// odd byte stays on its line, harmless and unambiguous.
std::string EscapeForMessage(absl::string_view text);

// One line, written when it goes out of scope. Use through MILLRACE_LOG.
class LogLine {
 public:
  explicit LogLine(LogSeverity severity) : severity_(severity) {}
  ~LogLine();
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;

  std::ostream& stream() { return stream_; }

 private:
  LogSeverity severity_;
  std::ostringstream stream_;
};

}  // namespace millrace

#endif  // MILLRACE_BASE_LOGGING_H_
