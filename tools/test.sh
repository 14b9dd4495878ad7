#!/bin/bash
# Installs what is missing, runs the tests, and prints as its last line
# `N passed, N failed, N skipped`, counted by test case.
#
#   tools/test.sh [--all] [options and targets for bazel test]
#
#   tools/test.sh                         all tests but long ones
#   tools/test.sh --all                   long ones (tag `slow`) too
#   tools/test.sh --config=asan //base/... //tests/base/...
#
# Tests on real photographs run where MILLRACE_REAL_DATA names the folder that
# holds them. Ends with 0 if no test failed, 1 if one did, 2 if Bazel or another
# part is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all=false
options=() targets=() config=
for argument in "$@"; do
  case "$argument" in
    --all) all=true ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    --config=*) config=${argument#--config=}; options+=("$argument") ;;
    -[!-]* | --*) options+=("$argument") ;;
    *) targets+=("$argument") ;;
  esac
done
if [[ ${#targets[@]} -eq 0 ]]; then targets=(//...); fi

tools/setup.sh
source tools/bazel_flags.sh

if $all; then
  # In place of the filter of .bazelrc, less `slow`.
  case "$config" in
    asan | ubsan) options+=(--test_tag_filters=-torch,-nosan) ;;
    tsan) options+=(--test_tag_filters=threads) ;;
    *) options+=(--test_tag_filters=) ;;
  esac
fi
if [[ $(id -u) -eq 0 ]]; then
  echo "Running as root: tests may start mpirun (OMPI_ALLOW_RUN_AS_ROOT)." >&2
  options+=(--test_env=OMPI_ALLOW_RUN_AS_ROOT=1
            --test_env=OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
fi
for name in MILLRACE_REAL_DATA MILLRACE_REQUIRE_GPU; do
  if [[ -n ${!name:-} ]]; then options+=("--test_env=$name=${!name}"); fi
done

events=$(mktemp)
trap 'rm -f "$events"' EXIT
rc=0
"$MILLRACE_BAZEL" test "${MILLRACE_BAZEL_FLAGS[@]}" --keep_going \
  "--build_event_json_file=$events" "${options[@]}" -- "${targets[@]}" || rc=$?
tools/count_tests.py "$events" "--bazel_exit_code=$rc"
