"""Tests that run on several MPI ranks."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_test")
load("//third_party:copts.bzl", "MILLRACE_TEST_COPTS")

# Not where the build leaves MPI out.
_COMPATIBLE = select({
    "//third_party:without_mpi": ["//third_party:unavailable"],
    "//conditions:default": [],
})

def mpi_test(name, ranks, program, args = [], data = [], tags = [], **kwargs):
    """Runs `program` under mpirun: passes if every rank exits with 0.

    Args:
      name: of the test.
      ranks: how many.
      program: label of a binary.
      args: for the program, the same on all ranks.
      data: further files that it reads.
      tags: beside "mpi" and "exclusive" (ranks would fight for the cores).
      **kwargs: size and the like.
    """
    native.sh_test(
        name = name,
        srcs = ["//tests/support:with_mpi.sh"],
        args = ["mpirun", "-n", str(ranks), "$(location %s)" % program] + args,
        data = data + [program],
        tags = tags + ["mpi", "exclusive"],
        target_compatible_with = _COMPATIBLE,
        **kwargs
    )

def mpi_driver_test(name, srcs, deps, data = [], tags = [], **kwargs):
    """A test that starts mpirun itself, by WithMpi() of subprocess.h."""
    cc_test(
        name = name,
        srcs = srcs,
        copts = MILLRACE_TEST_COPTS,
        data = data + ["//tests/support:with_mpi.sh"],
        tags = tags + ["mpi", "exclusive"],
        target_compatible_with = _COMPATIBLE,
        deps = deps,
        **kwargs
    )

def mpi_binary(name, srcs, deps, **kwargs):
    """A program of a test that needs MPI."""
    cc_binary(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = MILLRACE_TEST_COPTS,
        target_compatible_with = _COMPATIBLE,
        deps = deps,
        **kwargs
    )
