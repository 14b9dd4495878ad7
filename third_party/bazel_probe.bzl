"""Finds out which packaging of Bazel's rules lies on this machine.

Debian's Bazel works offline only if the repositories that Bazel's own WORKSPACE
suffix would download are declared first. A WORKSPACE file can't test for a
file, but it can load a constant from a repository whose rule did.
"""

def _bazel_probe_impl(ctx):
    # bazel-bootstrap 4.2.3 (Debian 12) has its Java rules below rules/; later
    # Debian packages (Bazel 7) have all rules there, and tools/skylib besides.
    flavor = "upstream"
    if ctx.path("/usr/share/bazel/tools/skylib").exists:
        flavor = "debian_new"
    elif ctx.path("/usr/share/bazel/rules/java").exists:
        flavor = "debian"
    ctx.file("BUILD.bazel", "")
    ctx.file("flavor.bzl", "FLAVOR = \"%s\"\n" % flavor)

bazel_probe = repository_rule(
    implementation = _bazel_probe_impl,
    local = True,
    configure = True,
    doc = "Writes flavor.bzl with FLAVOR in {debian, debian_new, upstream}.",
)
