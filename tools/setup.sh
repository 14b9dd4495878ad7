#!/bin/bash
# Installs what building and testing Millrace needs and is not there yet, with
# apt (Debian, Ubuntu), as root or through sudo. Does nothing where all is
# there. Names what is missing and ends with code 2 where it can't install.
#
#   tools/setup.sh [--min] [--ci] [--dry-run]
#
#   --min      leaves out libtorch, which only tools/train and its tests need
#   --ci       adds what .ci/run needs besides: clang-format
#   --dry-run  says what would be installed, installs nothing
set -euo pipefail

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }

min=false ci=false dry_run=false
for argument in "$@"; do
  case "$argument" in
    --min) min=true ;;
    --ci) ci=true ;;
    --dry-run) dry_run=true ;;
    -h | --help) usage; exit 0 ;;
    *) echo "tools/setup.sh: unknown option $argument (--help lists all)" >&2
       exit 2 ;;
  esac
done

missing=()   # What is missing, for people.
packages=()  # The Debian packages that have it.

# need DESCRIPTION PACKAGES COMMAND...: notes what COMMAND does not find.
need() {
  local description=$1 names=$2
  shift 2
  if ! "$@" >/dev/null 2>&1; then
    missing+=("$description")
    # Unquoted: several packages.
    packages+=($names)
  fi
}

have_bazel() {
  # A Bazel or Bazelisk of the user's own is left alone; Debian's also needs
  # the rules that it can't download.
  local bazel
  bazel=$(command -v bazel || command -v bazelisk) || return 1
  [[ $bazel != /usr/bin/bazel || ! -d /usr/share/bazel ]] ||
    [[ -d /usr/share/bazel/rules/java && -d /usr/share/bazel/rules/proto ]]
}

have_compiler() {
  local version
  version=$(g++ -dumpversion) && [[ ${version%%.*} -ge 11 ]]
}

have_any_file() {
  local file
  for file in "$@"; do [[ ! -e $file ]] || return 0; done
  return 1
}

need "Bazel 4 to 8, or Bazelisk" \
     "bazel-bootstrap bazel-rules-java bazel-rules-proto" have_bazel
need "g++ 11 or later" "g++" have_compiler
need "Python 3" "python3" command -v python3
need "pkg-config" "pkg-config" command -v pkg-config
need "Abseil" "libabsl-dev" pkg-config --exists absl_flags_parse absl_statusor
need "Open MPI's library" "libopenmpi-dev" pkg-config --exists ompi-c
need "Open MPI's mpirun" "openmpi-bin" command -v mpirun
need "libjpeg-turbo" "libjpeg-dev" pkg-config --exists libjpeg
need "GoogleTest" "libgtest-dev" pkg-config --exists gtest
need "GoogleMock" "libgmock-dev" pkg-config --exists gmock gmock_main
need "Google Benchmark" "libbenchmark-dev" pkg-config --exists benchmark
need "xxHash" "libxxhash-dev" pkg-config --exists libxxhash
need "nlohmann-json" "nlohmann-json3-dev" pkg-config --exists nlohmann_json
for part in core imgproc imgcodecs; do
  need "OpenCV's $part" "libopencv-$part-dev" have_any_file \
       {/usr,/usr/local}/include/opencv4/opencv2/"$part.hpp"
done
if ! $min; then
  # TORCH_HOME: the folder of a torch wheel in its place.
  need "libtorch" "libtorch-dev" have_any_file \
       "${TORCH_HOME:+$TORCH_HOME/include}/torch/csrc/api/include/torch/torch.h" \
       /usr/include/torch/csrc/api/include/torch/torch.h
  # Debian's reference BLAS makes Debian's libtorch several times slower.
  need "OpenBLAS" "libopenblas0-pthread" have_any_file "${TORCH_HOME:-/none}" \
       /usr/lib/*/openblas-pthread/libblas.so.3
fi
if $ci; then need "clang-format" "clang-format" command -v clang-format; fi

if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

printf 'Missing:\n' >&2
printf '  %s\n' "${missing[@]}" >&2
command="apt-get install --no-install-recommends ${packages[*]}"
if ! command -v apt-get >/dev/null; then
  echo "There is no apt-get here: install these in this system's own way." >&2
  exit 2
fi
if $dry_run; then
  echo "Would run: $command" >&2
  exit 0
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "Installing needs root. As root, run: $command" >&2
    exit 2
  fi
  as_root=(sudo)
fi
echo "Installing (${as_root[*]:+sudo }$command)" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
  --no-install-recommends "${packages[@]}"
