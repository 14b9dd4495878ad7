#include "tools/training/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/training/terminal.h"

namespace millrace::tools::training {
namespace {

// Share of a new step in the means: about the last twenty steps count.
constexpr double kNewShare = 0.05;

constexpr absl::string_view kClearLine = "\r\x1b[K";
constexpr absl::string_view kGreen = "\x1b[32m";
constexpr absl::string_view kPlain = "\x1b[0m";

// Columns of the bar between its brackets.
constexpr int kMaxBarWidth = 30;
constexpr int kMinBarWidth = 4;

// The means start at 0 with weight 0: dividing by the weight corrects that.
double Mean(double sum, double weight) { return weight > 0 ? sum / weight : 0; }

}  // namespace

ProgressOptions ProgressOptions::ForStandardOutput() {
  ProgressOptions options;
  const char* const term = std::getenv("TERM");
  if (term == nullptr || absl::string_view(term) == "dumb") return options;
  const int fd = OpenOutputTerminal();
  if (fd < 0) return options;
  options.terminal = true;
  const char* const no_color = std::getenv("NO_COLOR");
  options.colour = no_color == nullptr || *no_color == '\0';
  struct winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options.width = size.ws_col;
  }
  close(fd);
  return options;
}

Progress::Progress(const ProgressOptions& options, Clock* clock,
                   std::function<void(absl::string_view)> write)
    : options_(options),
      clock_(clock),
      write_(std::move(write)),
      last_shown_(clock->Now()),
      last_step_(last_shown_) {}

void Progress::Restart() {
  MutexLock lock(&mutex_);
  last_step_ = clock_->Now();
  means_ = Means();
}

void Progress::Step(const ProgressStep& step) {
  MutexLock lock(&mutex_);
  const absl::Duration now = clock_->Now();
  const auto add = [](double value, double* mean) {
    *mean += kNewShare * (value - *mean);
  };
  add(absl::ToDoubleSeconds(now - last_step_), &means_.seconds);
  add(absl::ToDoubleSeconds(step.wait), &means_.wait_seconds);
  add(static_cast<double>(step.images), &means_.images);
  add(1, &means_.weight);
  // A step that was left out has no loss.
  if (std::isfinite(step.loss)) {
    add(step.loss, &loss_);
    add(1, &loss_weight_);
  }
  last_step_ = now;

  const absl::Duration interval =
      options_.terminal ? options_.bar_interval : options_.line_interval;
  if (now - last_shown_ < interval) return;
  last_shown_ = now;
  if (options_.terminal) {
    write_(absl::StrCat(kClearLine, Bar(step)));
    bar_shown_ = true;
  } else {
    write_(absl::StrCat(PlainLine(step), "\n"));
  }
}

void Progress::Line(absl::string_view text) {
  MutexLock lock(&mutex_);
  ClearLocked();
  write_(absl::StrCat(text, "\n"));
}

void Progress::Clear() {
  MutexLock lock(&mutex_);
  ClearLocked();
}

void Progress::ClearLocked() {
  if (std::exchange(bar_shown_, false)) write_(kClearLine);
}

std::string Progress::Numbers(const ProgressStep& step) const {
  const double seconds = Mean(means_.seconds, means_.weight);
  const double images = Mean(means_.images, means_.weight);
  const double wait = Mean(means_.wait_seconds, means_.weight);
  const int64_t left = (step.epochs - step.epoch) * step.steps - step.step;
  return absl::StrFormat(
      "%.0f images/s  loss %.3f  wait %.0f%%  ETA %s",
      seconds > 0 ? images / seconds : 0, Mean(loss_, loss_weight_),
      seconds > 0 ? 100 * std::min(wait / seconds, 1.0) : 0,
      FormatEta(absl::Seconds(seconds * static_cast<double>(left))));
}

std::string Progress::PlainLine(const ProgressStep& step) const {
  return absl::StrFormat("epoch %d/%d step %d/%d  %s", step.epoch + 1,
                         step.epochs, step.step, step.steps, Numbers(step));
}

std::string Progress::Bar(const ProgressStep& step) const {
  const double share =
      static_cast<double>(step.step) / static_cast<double>(step.steps);
  const std::string before =
      absl::StrFormat("epoch %d/%d ", step.epoch + 1, step.epochs);
  std::string after =
      absl::StrFormat(" %3.0f%%  %s", 100 * share, Numbers(step));
  // One column stays free: a full line would scroll on some terminals.
  const int room = options_.width - 1;
  const int text = static_cast<int>(before.size() + after.size());
  const int width = std::min(room - text - 2, kMaxBarWidth);
  if (width < kMinBarWidth) return (before + after).substr(0, room);
  const int filled = static_cast<int>(share * width);
  std::string bar(static_cast<size_t>(filled), '=');
  if (filled < width) bar += '>';
  bar.resize(static_cast<size_t>(width), ' ');
  if (options_.colour) bar = absl::StrCat(kGreen, bar, kPlain);
  return absl::StrCat(before, "[", bar, "]", after);
}

std::string FormatEta(absl::Duration duration) {
  if (duration < absl::ZeroDuration() || duration > absl::Hours(24 * 365)) {
    return "-:--";
  }
  const int64_t seconds =
      absl::ToInt64Seconds(duration + absl::Milliseconds(500));
  const int64_t hours = seconds / 3600;
  if (hours == 0) {
    return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  }
  return absl::StrFormat("%d:%02d:%02d", hours, seconds / 60 % 60,
                         seconds % 60);
}

}  // namespace millrace::tools::training
