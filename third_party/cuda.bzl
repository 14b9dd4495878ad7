"""CUDA: the toolkit of this machine as a repository, and a rule for kernels.

The toolkit is found at CUDA_HOME or /usr/local/cuda. Without one the repository
is still there, so that everything else builds; what needs it (--config=cuda)
stops with a message that says what is missing.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_MISSING = ("Millrace was asked to build with CUDA, but no toolkit was found " +
            "at CUDA_HOME or /usr/local/cuda, or it has no NCCL (nccl.h).\n" +
            "Set CUDA_HOME to the folder with bin/nvcc and include/nccl.h, or " +
            "build without --config=cuda.")

_FOUND_BUILD = """
load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "cudart",
    hdrs = glob(["include/**"]),
    # System headers: not ours to warn about.
    includes = ["include"],
    # Shared: libraries of one program must have one runtime.
    linkopts = ["-L{home}/lib64", "-Wl,-rpath,{home}/lib64", "-lcudart"],
    visibility = ["//visibility:public"],
)

cc_library(
    name = "nccl",
    linkopts = ["-L{home}/lib64", "-Wl,-rpath,{home}/lib64", "-lnccl"],
    visibility = ["//visibility:public"],
    deps = [":cudart"],
)
"""

_MISSING_BUILD = """
load("@millrace//third_party:cuda.bzl", "missing_cuda")

missing_cuda(name = "cudart", visibility = ["//visibility:public"])

missing_cuda(name = "nccl", visibility = ["//visibility:public"])
"""

def _cuda_toolkit_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "") or "/usr/local/cuda"
    found = ctx.path(home + "/bin/nvcc").exists and ctx.path(home + "/include/nccl.h").exists
    if found:
        ctx.symlink(home + "/include", "include")
        ctx.file("BUILD.bazel", _FOUND_BUILD.format(home = home))
    else:
        ctx.file("BUILD.bazel", _MISSING_BUILD)
    ctx.file("nvcc.bzl", "NVCC = %s\n" % repr(home + "/bin/nvcc" if found else ""))

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    local = True,
    configure = True,
    environ = ["CUDA_HOME"],
    doc = "Targets :cudart and :nccl, and nvcc.bzl with the path NVCC.",
)

def _missing_cuda_impl(_ctx):
    fail("\n\n" + _MISSING + "\n")

missing_cuda = rule(
    implementation = _missing_cuda_impl,
    doc = "Stops the build of whatever depends on it.",
)

# Data-centre GPUs from Ampere on, and code that later ones compile themselves.
_ARCHITECTURES = [
    "-gencode=arch=compute_80,code=sm_80",
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_90,code=compute_90",
]

def _compile(ctx, source, headers, includes, pic):
    output = ctx.actions.declare_file("_objs/%s/%s%s" % (
        ctx.label.name,
        source.basename,
        ".pic.o" if pic else ".o",
    ))
    arguments = ctx.actions.args()
    arguments.add_all(["-x", "cu", "-c", source, "-o", output, "-std=c++20", "-O2"])

    # Floating point is the same as on the host: no contraction.
    arguments.add("-fmad=false")
    arguments.add_all(_ARCHITECTURES)
    arguments.add_all(["-I.", "-I" + ctx.bin_dir.path])
    arguments.add_all(includes, before_each = "-isystem")
    if pic:
        arguments.add("-Xcompiler=-fPIC")
    ctx.actions.run(
        executable = ctx.attr.nvcc,
        arguments = [arguments],
        inputs = depset([source], transitive = [headers]),
        outputs = [output],
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s" % source.short_path,
        use_default_shell_env = True,
    )
    return output

def _cuda_library_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    used = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    headers = depset(ctx.files.hdrs, transitive = [used.compilation_context.headers])
    includes = depset(transitive = [
        used.compilation_context.includes,
        used.compilation_context.system_includes,
    ])
    objects = [_compile(ctx, source, headers, includes, False) for source in ctx.files.srcs]
    pic_objects = [_compile(ctx, source, headers, includes, True) for source in ctx.files.srcs]
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = features,
        cc_toolchain = toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = depset(objects),
            pic_objects = depset(pic_objects),
        ),
        linking_contexts = [used.linking_context],
    )
    own = CcInfo(
        compilation_context = cc_common.create_compilation_context(
            headers = depset(ctx.files.hdrs),
        ),
        linking_context = linking,
    )
    return [
        DefaultInfo(files = depset(objects)),
        cc_common.merge_cc_infos(direct_cc_infos = [own], cc_infos = [used]),
    ]

cuda_library = rule(
    implementation = _cuda_library_impl,
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"], mandatory = True),
        "hdrs": attr.label_list(allow_files = [".h"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "nvcc": attr.string(mandatory = True, doc = "NVCC of @cuda//:nvcc.bzl."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    doc = "Kernels, compiled by nvcc, for use by cc_library and cc_binary.",
)
