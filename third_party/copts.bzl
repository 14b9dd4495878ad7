"""Compiler options of our own code: the one list of warnings."""

# Floating point is part of what Millrace promises (the same bits everywhere):
# no contraction into fused multiply-add, and never -ffast-math.
_EXACT = ["-ffp-contract=off"]

# Options are set by designated initialisers, which leave out what keeps its
# default; GCC counts that as forgotten.
_DESIGNATED = ["-Wno-missing-field-initializers"]

# GCC 12 sees uninitialised reads in the destructor of an empty std::optional.
_FALSE_ALARMS = ["-Wno-maybe-uninitialized"]

MILLRACE_COPTS = _EXACT + [
    "-Wall",
    "-Wextra",
    "-Wcast-qual",
    "-Wconversion-null",
    "-Wmissing-declarations",
    "-Wnon-virtual-dtor",
    "-Woverlength-strings",
    "-Woverloaded-virtual",
    "-Wpointer-arith",
    "-Wshadow",
    "-Wunused-result",
    "-Wvla",
    "-Wwrite-strings",
] + _DESIGNATED + _FALSE_ALARMS

# Tests define functions and name locals as they like.
MILLRACE_TEST_COPTS = _EXACT + [
    "-Wall",
    "-Wextra",
] + _DESIGNATED + _FALSE_ALARMS
