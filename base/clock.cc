#include "base/clock.h"

#include <chrono>
#include <thread>

namespace millrace {
namespace {

class RealClock : public Clock {
 public:
  absl::Duration Now() const override {
    return absl::FromChrono(
        std::chrono::steady_clock::now().time_since_epoch());
  }
  void SleepFor(absl::Duration duration) override {
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(duration));
  }
};

}  // namespace

Clock* Clock::Real() {
  static RealClock clock;
  return &clock;
}

}  // namespace millrace
