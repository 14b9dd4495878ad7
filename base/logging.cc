#include "base/logging.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/mutex.h"

namespace millrace {
namespace {

struct LogState {
  Mutex mutex;
  int rank ABSL_GUARDED_BY(mutex) = 0;
  int world_size ABSL_GUARDED_BY(mutex) = 1;
  LogSeverity min_severity ABSL_GUARDED_BY(mutex) = LogSeverity::kInfo;
  std::function<void(absl::string_view)> sink ABSL_GUARDED_BY(mutex);
};

LogState& State() {
  // Never destroyed: threads may log while the process exits.
  static LogState* state = new LogState;
  return *state;
}

void WriteAll(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      // A pipe that mpirun or a shell made non-blocking, full just now.
      pollfd writable = {STDERR_FILENO, POLLOUT, 0};
      poll(&writable, 1, /*timeout_ms=*/-1);
      continue;
    }
    if (written <= 0) return;  // Nowhere left to report it.
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Length of the UTF-8 sequence at the start of `text`, or 0 if it is not one
// (overlong forms, surrogates and values above U+10FFFF included).
size_t Utf8Length(absl::string_view text) {
  const auto byte = [&text](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned b0 = byte(0), b1 = byte(1);
  const auto is_tail = [&byte](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  if (b0 >= 0xC2 && b0 <= 0xDF) return is_tail(1) ? 2 : 0;
  if ((b0 & 0xF0) == 0xE0) {
    const bool overlong = b0 == 0xE0 && b1 < 0xA0;
    const bool surrogate = b0 == 0xED && b1 > 0x9F;
    return is_tail(1) && is_tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (b0 >= 0xF0 && b0 <= 0xF4) {
    const bool overlong = b0 == 0xF0 && b1 < 0x90;
    const bool too_large = b0 == 0xF4 && b1 > 0x8F;
    return is_tail(1) && is_tail(2) && is_tail(3) && !overlong && !too_large
               ? 4
               : 0;
  }
  return 0;
}

// Characters that end a line or command a terminal: U+0080 to U+009F (C1),
// U+2028 and U+2029.
bool IsControl(absl::string_view utf8) {
  return (utf8.size() == 2 && utf8[0] == '\xC2' &&
          static_cast<unsigned char>(utf8[1]) < 0xA0) ||
         utf8 == "\u2028" || utf8 == "\u2029";
}

}  // namespace

void SetLogRank(int rank, int world_size) {
  LogState& state = State();
  MutexLock lock(&state.mutex);
  state.rank = rank;
  state.world_size = world_size;
}

void SetMinLogSeverity(LogSeverity severity) {
  LogState& state = State();
  MutexLock lock(&state.mutex);
  state.min_severity = severity;
}

void SetLogSink(std::function<void(absl::string_view)> sink) {
  LogState& state = State();
  MutexLock lock(&state.mutex);
  state.sink = std::move(sink);
}

std::string EscapeForMessage(absl::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const unsigned char c = static_cast<unsigned char>(text[0]);
    size_t length = 1;
    if (c == '\\') {
      result += "\\\\";
    } else if (c >= 0x20 && c < 0x7F) {
      result += text[0];
    } else if (length = Utf8Length(text);
               length != 0 && !IsControl(text.substr(0, length))) {
      result.append(text.data(), length);
    } else {
      length = 1;
      absl::StrAppendFormat(&result, "\\x%02X", c);
    }
    text.remove_prefix(length);
  }
  return result;
}

LogLine::~LogLine() {
  LogState& state = State();
  MutexLock lock(&state.mutex);
  if (severity_ < state.min_severity) return;
  std::string line;
  if (state.world_size > 1) absl::StrAppend(&line, "[rank ", state.rank, "] ");
  if (severity_ == LogSeverity::kWarning) line += "warning: ";
  if (severity_ == LogSeverity::kError) line += "error: ";
  absl::StrAppend(&line, stream_.str(), "\n");
  if (state.sink) {
    state.sink(line);
  } else {
    WriteAll(line);
  }
}

}  // namespace millrace
