#include "tools/training/schedule.h"

#include <algorithm>
#include <cmath>

namespace millrace::tools::training {
namespace {

constexpr double kPi = 3.14159265358979323846;

}  // namespace

Schedule::Schedule(double peak, double warmup_steps, int64_t total_steps)
    : peak_(peak),
      warmup_(std::min(warmup_steps, static_cast<double>(total_steps) / 2)),
      total_(total_steps) {}

double Schedule::LearningRate(int64_t step) const {
  const double at = static_cast<double>(std::min(step, total_ - 1));
  if (at < warmup_) return peak_ * (at + 1) / (warmup_ + 1);
  const double done = (at - warmup_) / (static_cast<double>(total_) - warmup_);
  return peak_ * 0.5 * (1 + std::cos(kPi * done));
}

}  // namespace millrace::tools::training
