"""Wraps a library installed on this machine as an external repository.

The compiler flags come from pkg-config, or from a list of include directories
and libraries for those that have no .pc file. A missing library stops the
build with the name of the package and the command that installs it.
"""

def _fail_missing(ctx, what):
    fail(("\n\nMillrace needs %s (%s), which was not found.\n" +
          "Install it:  sudo apt-get install %s\n" +
          "or everything at once:  tools/setup.sh\n") % (ctx.attr.name, what, ctx.attr.apt))

def _pkg_config(ctx):
    tool = ctx.which("pkg-config")
    if tool == None:
        fail("\n\nMillrace needs pkg-config.\nInstall it:  sudo apt-get install pkg-config\n")
    result = ctx.execute([tool, "--cflags", "--libs"] + ctx.attr.pkg_config)
    if result.return_code != 0:
        _fail_missing(ctx, "pkg-config " + " ".join(ctx.attr.pkg_config))
    includes, copts, linkopts = [], [], []
    for flag in result.stdout.strip().split(" "):
        if flag.startswith("-I"):
            includes.append(flag[2:])
        elif flag.startswith("-l") or flag.startswith("-L") or flag.startswith("-Wl"):
            linkopts.append(flag)
        elif flag.startswith("-D"):
            copts.append(flag[2:])
    return includes, copts, linkopts

def _by_header(ctx):
    home = ctx.os.environ.get(ctx.attr.home_env, "") if ctx.attr.home_env else ""
    linkopts = ["-l" + lib for lib in ctx.attr.libs]
    if home:
        includes = [home + "/" + d for d in ctx.attr.home_include_dirs]
        linkopts = ["-L%s/lib" % home, "-Wl,-rpath,%s/lib" % home] + linkopts
    else:
        includes = [d for d in ctx.attr.include_dirs if ctx.path(d).exists][:1]
    if not [d for d in includes if ctx.path(d + "/" + ctx.attr.header).exists]:
        _fail_missing(ctx, ctx.attr.header)
    return includes, [], linkopts

def _system_library_impl(ctx):
    includes, defines, linkopts = _pkg_config(ctx) if ctx.attr.pkg_config else _by_header(ctx)
    links = []
    for directory in includes:
        # The compiler looks there by itself, and a glob over it would be huge.
        if directory in ["/usr/include", "/usr/include/"]:
            continue
        link = "include%d" % len(links)
        ctx.symlink(directory, link)
        links.append(link)
    ctx.file("BUILD.bazel", """
load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "{name}",
    hdrs = glob({globs}, allow_empty = True),
    includes = {links},
    defines = {defines},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
""".format(
        name = ctx.attr.name,
        globs = ["%s/**/*" % link for link in links],
        links = links,
        defines = defines + ctx.attr.defines,
        linkopts = linkopts,
    ))

system_library = repository_rule(
    implementation = _system_library_impl,
    local = True,
    configure = True,
    environ = ["TORCH_HOME", "PKG_CONFIG_PATH"],
    attrs = {
        "pkg_config": attr.string_list(doc = "Modules to ask pkg-config for."),
        "home_env": attr.string(doc = "Environment variable that names another root."),
        "include_dirs": attr.string_list(doc = "Without pkg-config: the first that exists is taken."),
        "home_include_dirs": attr.string_list(doc = "Include directories below the root of home_env."),
        "header": attr.string(doc = "Without pkg-config: a header that must be there."),
        "libs": attr.string_list(doc = "Without pkg-config: libraries to link."),
        "defines": attr.string_list(doc = "Preprocessor definitions for users."),
        "apt": attr.string(mandatory = True, doc = "Debian packages, for the error message."),
    },
)
