#!/bin/bash
# Runs the benchmark $1 for a moment: it must end well, and every one of its
# cases must have measured something.
set -eu
out=$("$1" --benchmark_min_time=0.0001 --benchmark_format=console 2>/dev/null)
echo "$out"
if grep -q "ERROR OCCURRED" <<< "$out"; then
  echo "a benchmark failed" >&2
  exit 1
fi
grep -q "items_per_second=" <<< "$out"
