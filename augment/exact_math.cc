#include "augment/exact_math.h"

#include <cmath>
#include <cstdint>

namespace millrace::augment {
namespace {

// log(2) and pi / 2 as sums: the first parts have so few bits that their
// products with small integers are exact.
constexpr double kLn2High = 0x1.62e42fefp-1;
constexpr double kLn2Low = 0x1.473de6af278edp-34;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kHalfPiHigh = 0x1.921fb54400000p+0;
constexpr double kHalfPiMiddle = 0x1.0b4611a600000p-34;
constexpr double kHalfPiLow = 0x1.3198a2e037073p-69;
constexpr double kInverseHalfPi = 0x1.45f306dc9c883p-1;

// The integer nearest to x: adding 1.5 * 2^52 leaves no bits for a fraction.
double NearestInteger(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

// sin and cos of |x| <= pi / 4 by their Taylor series; the first term left out
// is below 1e-19.
double SmallSin(double x) {
  const double x2 = x * x;
  double sum = 0;
  for (int n = 17; n >= 3; n -= 2) sum = (1 + sum) * (-x2 / (n * (n - 1)));
  return x + x * sum;
}

double SmallCos(double x) {
  const double x2 = x * x;
  double sum = 0;
  for (int n = 18; n >= 4; n -= 2) sum = (1 + sum) * (-x2 / (n * (n - 1)));
  return 1 - x2 / 2 * (1 + sum);
}

// sin(x + quarters * pi / 2).
double SinOfQuarters(double x, int quarters) {
  const double turns = NearestInteger(x * kInverseHalfPi);
  const double rest =
      ((x - turns * kHalfPiHigh) - turns * kHalfPiMiddle) - turns * kHalfPiLow;
  switch ((static_cast<int>(turns) + quarters) & 3) {
    case 0:
      return SmallSin(rest);
    case 1:
      return SmallCos(rest);
    case 2:
      return -SmallSin(rest);
    default:
      return -SmallCos(rest);
  }
}

}  // namespace

float ExactExp(float x) {
  const double k = NearestInteger(x * kInverseLn2);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  // |r| <= 0.347: the first term left out is below 1e-17.
  double sum = 0;
  for (int n = 13; n >= 1; --n) sum = (1 + sum) * (r / n);
  return static_cast<float>(std::ldexp(1 + sum, static_cast<int>(k)));
}

float ExactLog(float x) {
  int exponent = 0;
  double mantissa = std::frexp(static_cast<double>(x), &exponent);
  if (mantissa < 0x1.6a09e667f3bcdp-1) {
    mantissa *= 2;
    --exponent;
  }
  // log(m) = 2 artanh((m - 1) / (m + 1)), of an argument below 0.172: the first
  // term left out is below 1e-18.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * s2 + 1.0 / n;
  return static_cast<float>((exponent * kLn2Low + 2 * s * sum) +
                            exponent * kLn2High);
}

double ExactSin(double x) { return SinOfQuarters(x, 0); }

double ExactCos(double x) { return SinOfQuarters(x, 1); }

}  // namespace millrace::augment
