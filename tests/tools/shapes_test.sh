#!/bin/bash
# The shapes tool from outside: exit codes, messages, where relative paths go.
set -euo pipefail

shapes=$PWD/tools/shapes
cd "$TEST_TMPDIR"

fail() { echo "FAILED: $1" >&2; exit 1; }

# expect CODE TEXT ARGUMENTS...: its exit code, and a text in what it says.
expect() {
  local want=$1 text=$2 rc=0 said
  shift 2
  said=$("$shapes" "$@" 2>&1) || rc=$?
  [[ $rc -eq $want ]] || fail "shapes $*: want code $want, got $rc: $said"
  [[ $said == *"$text"* ]] || fail "shapes $*: want '$text' in: $said"
}

small=(--train_per_class=2 --val_per_class=1)
expect 2 "--out is required"
expect 2 "unknown flag --ouput=x; did you mean --out?" --ouput=x
expect 2 "flag --seed=abc" --out=x --seed=abc
expect 2 "unexpected argument x" x
expect 2 "--quality is in [1, 100], not 0" --out=x --quality=0
expect 0 "--train_per_class=200" --help
[[ ! -e x ]] || fail "a mistake must leave nothing behind"

expect 0 "10 classes, 2 training and 1 validation pictures each" \
  --out=here "${small[@]}"
[[ $(find here -name '*.jpg' | wc -l) -eq 30 ]] || fail "30 files are wanted"
expect 2 "here is not empty" --out=here "${small[@]}"
expect 0 "" --out=here --force "${small[@]}"

# Under `bazel run` a relative path means the folder where the user stands.
mkdir user
BUILD_WORKING_DIRECTORY=$PWD/user expect 0 "user/there" --out=there "${small[@]}"
diff -r here user/there || fail "equal seeds give equal files"

echo "All good."
