#!/usr/bin/env python3
"""Counts the test cases of one run of `bazel test`.

  bazel test --build_event_json_file=EVENTS ...; rc=$?
  tools/count_tests.py EVENTS --bazel_exit_code=$rc

Prints the failed cases, the skipped ones with their reasons, and as the last
line `N passed, N failed, N skipped`. Ends with 0 if none failed, else with 1.

Only targets of that run count. A GoogleTest binary counts by its cases, any
other test as one. A test that ended badly although its cases say otherwise (a
sanitizer's report at exit, a crash, a time-out), a target that did not build,
and an error of Bazel's own count as one failed case each. A target that can't
be built in this configuration counts as one skipped case.
"""

import argparse
import collections
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree


class Counts:
    """Cases by outcome, and the names of those that did not pass."""

    def __init__(self):
        self.passed = 0
        self.failed = []  # Names.
        self.skipped = []  # (name, reason)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def summary(self):
        return "%d passed, %d failed, %d skipped" % (
            self.passed, len(self.failed), len(self.skipped))


def count_xml(label, text):
    """Counts of one test.xml: by case if GoogleTest wrote it, else none."""
    counts = Counts()
    root = xml.etree.ElementTree.fromstring(text)
    for case in root.iter("testcase"):
        name = "%s %s.%s" % (label, case.get("classname"), case.get("name"))
        skips = case.findall("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed.append(name)
        elif case.get("status") == "notrun" or case.get("result") == "suppressed":
            counts.skipped.append((name, "disabled"))
        elif skips or case.get("result") == "skipped":
            reason = skips[0].get("message", "") if skips else ""
            # GoogleTest puts "FILE:LINE" on a line before the reason.
            lines = [line for line in reason.strip().split("\n") if line]
            counts.skipped.append((name, lines[-1] if lines else "no reason"))
        else:
            counts.passed += 1
    return counts


def is_googletest(text):
    """Whether a test.xml is GoogleTest's own and not one that Bazel made."""
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError:
        return False
    return any(case.get("classname") for case in root.iter("testcase"))


def count_result(label, status, text):
    """Counts of one run of a test target.

    status: Bazel's word for how it ended, such as PASSED, FAILED, TIMEOUT.
    text: its test.xml, or None.
    """
    counts = Counts()
    passed = status in ("PASSED", "FLAKY")
    if text is not None and is_googletest(text):
        counts = count_xml(label, text)
        if not passed and not counts.failed:
            counts.failed.append("%s (%s after its cases)" % (label, status))
    elif passed:
        counts.passed = 1
    else:
        counts.failed.append("%s (%s)" % (label, status))
    return counts


def read_uri(uri):
    """The file of a file:// URI, or None if it can't be read."""
    path = urllib.parse.unquote(urllib.parse.urlparse(uri).path)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def count_events(events, bazel_exit_code=0, read=read_uri):
    """Counts of a run, from the objects of its build event file."""
    counts = Counts()
    results = collections.OrderedDict()  # (label, run, shard): its last attempt.
    for event in events:
        identity = event.get("id", {})
        if "testResult" in identity and "testResult" in event:
            key = identity["testResult"]
            results[(key["label"], key.get("run", 1), key.get("shard", 1))] = (
                event["testResult"])
        elif "targetCompleted" in identity:
            label = identity["targetCompleted"]["label"]
            aborted = event.get("aborted", {}).get("reason", "")
            if aborted == "SKIPPED":
                counts.skipped.append((label, "not for this configuration"))
            elif aborted or not event.get("completed", {}).get("success"):
                counts.failed.append("%s (did not build)" % label)
    for (label, _, _), result in results.items():
        status = result.get("status", "NO_STATUS")
        text = None
        for output in result.get("testActionOutput", []):
            if output.get("name") == "test.xml":
                text = read(output.get("uri", ""))
        counts.add(count_result(label, status, text))
    if bazel_exit_code != 0 and not counts.failed:
        counts.failed.append("bazel ended with code %d" % bazel_exit_code)
    return counts


def read_events(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("events", help="what --build_event_json_file wrote")
    parser.add_argument("--bazel_exit_code", type=int, default=0)
    arguments = parser.parse_args(argv)
    events = []
    if os.path.exists(arguments.events):
        events = read_events(arguments.events)
    counts = count_events(events, arguments.bazel_exit_code)
    for reason, names in sorted(by_reason(counts.skipped).items()):
        print("skipped: %s: %s" % (reason, names[0]) +
              (" and %d more" % (len(names) - 1) if len(names) > 1 else ""))
    for name in counts.failed:
        print("FAILED: %s" % name)
    print(counts.summary())
    return 1 if counts.failed else 0


def by_reason(skipped):
    names = collections.defaultdict(list)
    for name, reason in skipped:
        names[reason].append(name)
    return names


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
