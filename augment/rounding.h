#ifndef MILLRACE_AUGMENT_ROUNDING_H_
#define MILLRACE_AUGMENT_ROUNDING_H_

namespace millrace::augment {

// The integer nearest to x, the even one if two are: Python's round(), whatever
// rounding mode the process has set. REQUIRES: |x| < 2^51.
inline double RoundHalfToEven(double x) {
  const double floor = static_cast<double>(static_cast<long long>(x)) -
                       (x < static_cast<double>(static_cast<long long>(x)));
  const double rest = x - floor;
  const bool odd = (static_cast<long long>(floor) & 1) != 0;
  return rest > 0.5 || (rest == 0.5 && odd) ? floor + 1 : floor;
}

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_ROUNDING_H_
