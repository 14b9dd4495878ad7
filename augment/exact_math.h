#ifndef MILLRACE_AUGMENT_EXACT_MATH_H_
#define MILLRACE_AUGMENT_EXACT_MATH_H_

// exp, log, sin and cos with the same bits on every machine: they use only
// additions, multiplications and divisions of doubles, which IEEE 754 fixes,
// while the C library's versions vary between libraries and processors.

namespace millrace::augment {

// exp(x) rounded to float. REQUIRES: |x| <= 80.
float ExactExp(float x);

// log(x) rounded to float. REQUIRES: x > 0 and normal.
float ExactLog(float x);

// Within 2e-16 of the true value. REQUIRES: |x| <= 1000 (radians).
double ExactSin(double x);
double ExactCos(double x);

}  // namespace millrace::augment

#endif  // MILLRACE_AUGMENT_EXACT_MATH_H_
