"""Everything from outside: Bazel's rule repositories and system libraries."""

load("@millrace_bazel_probe//:flavor.bzl", "FLAVOR")
load("//third_party:cuda.bzl", "cuda_toolkit")
load("//third_party:system_library.bzl", "system_library")

_DEBIAN_RULES = "/usr/share/bazel/rules/"

def millrace_rules():
    """Declares the rule repositories that Bazel would otherwise download."""
    # Debian's 4.2.3 has no version; an upstream release on the same machine
    # brings its own rules.
    if FLAVOR == "upstream" or (FLAVOR == "debian" and native.bazel_version):
        return
    native.local_repository(name = "rules_java", path = _DEBIAN_RULES + "java")
    native.local_repository(name = "rules_proto", path = _DEBIAN_RULES + "proto")
    native.local_repository(name = "remote_coverage_tools", path = "third_party/coverage_stub")
    if FLAVOR == "debian":
        # Debian's bazel-rules-cc does not load on its own Bazel 4.2.3.
        native.local_repository(name = "rules_cc", path = "third_party/rules_cc")
        return
    native.local_repository(name = "rules_cc", path = _DEBIAN_RULES + "cc")
    native.local_repository(name = "rules_python", path = _DEBIAN_RULES + "python")
    native.local_repository(name = "rules_license", path = _DEBIAN_RULES + "license")
    native.local_repository(name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    native.local_repository(name = "bazel_features", path = "/usr/share/bazel/tools/features")
    native.local_repository(name = "platforms", path = "/usr/share/bazel/platforms/platforms")

def millrace_system_libraries():
    """Wraps each library of the system as a repository @NAME with a target :NAME."""
    cuda_toolkit(name = "cuda")
    system_library(
        name = "absl",
        pkg_config = [
            "absl_cleanup",
            "absl_flags_parse",
            "absl_flags_usage",
            "absl_flat_hash_map",
            "absl_flat_hash_set",
            "absl_inlined_vector",
            "absl_span",
            "absl_status",
            "absl_statusor",
            "absl_str_format",
            "absl_strings",
            "absl_time",
        ],
        apt = "libabsl-dev",
    )
    system_library(
        name = "googletest",
        # With a main() of its own.
        pkg_config = ["gtest", "gmock", "gmock_main"],
        apt = "libgtest-dev libgmock-dev",
    )
    system_library(
        name = "googlebenchmark",
        pkg_config = ["benchmark"],
        apt = "libbenchmark-dev",
    )
    system_library(
        name = "mpi",
        pkg_config = ["ompi-c"],
        # Keeps the dead C++ bindings of Open MPI's header out.
        defines = ["OMPI_SKIP_MPICXX=1"],
        apt = "libopenmpi-dev openmpi-bin",
    )
    system_library(
        name = "jpeg",
        pkg_config = ["libjpeg"],
        apt = "libjpeg-dev",
    )
    system_library(
        name = "opencv",
        # Debian's opencv4.pc comes only with libopencv-dev, which drags in 130
        # packages more than these three parts need.
        include_dirs = ["/usr/include/opencv4", "/usr/local/include/opencv4"],
        header = "opencv2/core.hpp",
        libs = ["opencv_imgcodecs", "opencv_imgproc", "opencv_core"],
        apt = "libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev",
    )
    system_library(
        name = "hwy",
        pkg_config = ["libhwy"],
        apt = "libhwy-dev",
    )
    system_library(
        name = "xxhash",
        pkg_config = ["libxxhash"],
        apt = "libxxhash-dev",
    )
    system_library(
        name = "nlohmann_json",
        pkg_config = ["nlohmann_json"],
        apt = "nlohmann-json3-dev",
    )
    system_library(
        name = "torch",
        # TORCH_HOME names a torch wheel's folder (it has include/ and lib/);
        # without it Debian's libtorch is taken.
        home_env = "TORCH_HOME",
        include_dirs = ["/usr/include/torch/csrc/api/include"],
        home_include_dirs = ["include", "include/torch/csrc/api/include"],
        header = "torch/torch.h",
        libs = ["torch", "torch_cpu", "c10"],
        apt = "libtorch-dev libopenblas0-pthread",
    )
