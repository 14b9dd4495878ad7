#!/bin/bash
# What tools/quickstart.sh refuses before it installs or builds anything.
set -euo pipefail

quickstart=$PWD/tools/quickstart.sh
cd "$TEST_TMPDIR"

fail() { echo "FAILED: $1" >&2; exit 1; }

# expect CODE TEXT ARGUMENTS...: its exit code, and a text in what it says.
expect() {
  local want=$1 text=$2 rc=0 said
  shift 2
  said=$(/bin/bash "$quickstart" "$@" 2>&1) || rc=$?
  [[ $rc -eq $want ]] || fail "quickstart $*: want code $want, got $rc: $said"
  [[ $said == *"$text"* ]] || fail "quickstart $*: want '$text' in: $said"
}

expect 0 "tools/quickstart.sh [DATA]" --help
expect 2 "unknown option --data" --data=x
expect 2 "one folder at most, got 2" a b
expect 3 "nowhere/train is no folder" nowhere
mkdir -p half/train
expect 3 "half/val is no folder" half

echo "All good."
