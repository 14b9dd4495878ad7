# For scripts to source: the Bazel to call, and what its version needs to read
# WORKSPACE.
#
#   source tools/bazel_flags.sh
#   "$MILLRACE_BAZEL" test "${MILLRACE_BAZEL_FLAGS[@]}" //...
#
# Sets MILLRACE_BAZEL (kept where it is set already) and MILLRACE_BAZEL_FLAGS.
# Says why and returns 2 if there is no Bazel, or one too old or too new.

# millrace_bazel_flags VERSION: prints the flags, one a line. VERSION is what
# `bazel --version` says, with or without its first word.
millrace_bazel_flags() {
  local version=${1#bazel } major
  # Debian 12's own build of 4.2.3 has no version.
  if [[ $version == no_version* ]]; then return 0; fi
  major=${version%%.*}
  major=${major%%[!0-9]*}
  if [[ -z $major ]]; then
    echo "can't tell the version of Bazel from '$1'" >&2
    return 2
  fi
  if ((major < 4)); then
    echo "Bazel $version is too old: 4 to 8 work" >&2
    return 2
  fi
  if ((major > 8)); then
    echo "Bazel $version no longer reads WORKSPACE: 4 to 8 work (with" \
         "Bazelisk: export USE_BAZEL_VERSION=7.x)" >&2
    return 2
  fi
  if ((major >= 7)); then echo "--noenable_bzlmod"; fi
  if ((major >= 8)); then echo "--enable_workspace"; fi
}

if [[ -z ${MILLRACE_BAZEL:-} ]]; then
  if ! MILLRACE_BAZEL=$(command -v bazel || command -v bazelisk); then
    echo "no bazel or bazelisk found: tools/setup.sh installs one" >&2
    return 2
  fi
fi
if ! _millrace_flags=$(millrace_bazel_flags "$("$MILLRACE_BAZEL" --version)")
then
  return 2
fi
MILLRACE_BAZEL_FLAGS=()
if [[ -n $_millrace_flags ]]; then
  mapfile -t MILLRACE_BAZEL_FLAGS <<< "$_millrace_flags"
fi
unset _millrace_flags
