#!/bin/bash
# tools/bazel_flags.sh: which flags each version of Bazel gets.
set -euo pipefail

fail() { echo "FAILED: $1" >&2; exit 1; }

# A Bazel that only knows its version.
bazel=$TEST_TMPDIR/bazel
cat > "$bazel" <<'END'
#!/bin/bash
[[ $1 == --version ]] && cat "$0.version"
END
chmod +x "$bazel"

# expect VERSION CODE FLAGS
expect() {
  local rc=0 flags
  echo "$1" > "$bazel.version"
  flags=$(
    MILLRACE_BAZEL=$bazel
    source tools/bazel_flags.sh || exit
    echo "${MILLRACE_BAZEL_FLAGS[*]}"
  ) || rc=$?
  [[ $rc -eq $2 ]] || fail "$1: want code $2, got $rc"
  [[ $flags == "$3" ]] || fail "$1: want '$3', got '$flags'"
}

expect "bazel no_version" 0 ""
expect "bazel 4.2.3" 0 ""
expect "bazel 6.5.0" 0 ""
expect "bazel 7.7.1" 0 "--noenable_bzlmod"
expect "bazel 7.7.1- (@non-git)" 0 "--noenable_bzlmod"
expect "bazel 8.0.0rc1" 0 "--noenable_bzlmod --enable_workspace"
expect "bazel 9.0.0" 2 ""
expect "bazel 3.7.2" 2 ""
expect "bazel development version" 2 ""

# Without any Bazel it says which script installs one.
mkdir "$TEST_TMPDIR/empty"
rc=0
message=$(PATH=$TEST_TMPDIR/empty; source tools/bazel_flags.sh 2>&1) || rc=$?
[[ $rc -eq 2 && $message == *tools/setup.sh* ]] || fail "no Bazel: $rc $message"

echo "All good."
