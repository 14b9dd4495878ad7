#!/bin/bash
# tools/setup.sh against stubs of the commands that it asks and calls: nothing
# is installed, whatever this machine has.
set -euo pipefail

setup=$PWD/tools/setup.sh
work=$TEST_TMPDIR
errors=$work/errors

fail() {
  echo "FAILED: $1" >&2
  echo "--- what setup.sh said:" >&2
  cat "$errors" >&2
  exit 1
}

# stub NAME BODY: a command of that name in the current folder of stubs.
stub() {
  printf '#!/bin/bash\n%s\n' "$2" > "$bin/$1"
  chmod +x "$bin/$1"
}

# machine NAME: an empty folder of stubs with what every machine has.
machine() {
  bin=$work/$1
  mkdir "$bin"
  ln -s "$(command -v bash)" "$(command -v sed)" "$(command -v cat)" \
     "$(command -v env)" "$bin"
}

run() {
  rc=0
  PATH=$bin TORCH_HOME=$torch /bin/bash "$setup" "$@" > "$errors" 2>&1 || rc=$?
}

torch=$work/torch
mkdir -p "$torch/include/torch/csrc/api/include/torch"
touch "$torch/include/torch/csrc/api/include/torch/torch.h"

# --- An unknown option is a usage error.
machine unknown_option
run --everything
[[ $rc -eq 2 ]] || fail "unknown option: want code 2, got $rc"
grep -q -- "unknown option --everything" "$errors" || fail "names the option"

# --- Help.
run --help
[[ $rc -eq 0 ]] || fail "help: want code 0, got $rc"
grep -q -- "--dry-run" "$errors" || fail "help lists options"

# --- No apt: names what is needed and ends with 2.
machine no_apt
run
[[ $rc -eq 2 ]] || fail "no apt: want code 2, got $rc"
for name in Bazel g++ Abseil "Open MPI" libjpeg GoogleTest pkg-config; do
  grep -q "  .*$name" "$errors" || fail "no apt: should name $name"
done
if grep -q libtorch "$errors"; then fail "a torch wheel counts as libtorch"; fi

# --- A bare machine, as root: lists and installs all, without recommendations.
machine root
stub id 'echo 0'
stub apt-get 'echo "apt-get $*" >> '"$work/root.log"
run --dry-run
[[ $rc -eq 0 ]] || fail "dry run: want code 0, got $rc"
[[ ! -e $work/root.log ]] || fail "a dry run must not call apt-get"
grep -q "Would run: apt-get install --no-install-recommends bazel-bootstrap" \
  "$errors" || fail "a dry run shows the command"
run
[[ $rc -eq 0 ]] || fail "root: want code 0, got $rc"
grep -q "^apt-get install .*--no-install-recommends.* libabsl-dev" \
  "$work/root.log" || fail "should install Abseil: $(cat "$work/root.log")"
if grep -q clang-format "$work/root.log"; then fail "clang-format is for --ci"; fi

# --- A user with sudo, all there but one library, a Bazelisk of their own.
machine sudo
stub id 'echo 1000'
stub sudo 'echo "sudo $*" >> '"$work/sudo.log"
stub apt-get 'exit 1'
stub bazelisk 'exit 0'
stub g++ 'echo 12'
stub python3 'exit 0'
stub mpirun 'exit 0'
stub pkg-config '[[ $2 != libxxhash ]]'
run
[[ $rc -eq 0 ]] || fail "sudo: want code 0, got $rc"
grep -q "^sudo env .* libxxhash-dev$\|^sudo .* libxxhash-dev " "$work/sudo.log" ||
  fail "should install xxHash through sudo: $(cat "$work/sudo.log")"
for name in bazel libabsl g++ libjpeg; do
  if grep -q "$name" "$work/sudo.log"; then fail "sudo: $name is there"; fi
done

# --- A user without sudo is told what to run as root.
rm "$bin/sudo"
run
[[ $rc -eq 2 ]] || fail "no sudo: want code 2, got $rc"
grep -q "As root, run: apt-get install .*libxxhash-dev" "$errors" ||
  fail "should say what to run as root"

# --- An old compiler is not enough.
stub g++ 'echo 9'
run --dry-run
grep -q "g++ 11 or later" "$errors" || fail "should name the compiler"

# --- clang-format only for --ci.
run --ci --dry-run
grep -q "clang-format" "$errors" || fail "--ci adds clang-format"

echo "All good."
