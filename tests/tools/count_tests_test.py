#!/usr/bin/env python3
"""Tests of tools/count_tests.py. Run by Bazel as a plain executable."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.getcwd(), "tools"))
import count_tests  # noqa: E402

GOOGLETEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5" failures="1" disabled="1" errors="0" time="0.1">
  <testsuite name="PoolTest" tests="5" failures="1" disabled="1" skipped="1">
    <testcase name="Good" status="run" result="completed" classname="PoolTest" />
    <testcase name="AlsoGood" status="run" result="completed" classname="PoolTest" />
    <testcase name="Bad" status="run" result="completed" classname="PoolTest">
      <failure message="a.cc:1&#x0A;one" type=""><![CDATA[a.cc:1]]></failure>
      <failure message="a.cc:2&#x0A;two" type=""><![CDATA[a.cc:2]]></failure>
    </testcase>
    <testcase name="NoGpu" status="run" result="skipped" classname="PoolTest">
      <skipped message="gpu_test.cc:7&#x0A;no GPU&#x0A;"><![CDATA[gpu_test.cc:7]]></skipped>
    </testcase>
    <testcase name="DISABLED_Old" status="notrun" result="suppressed" classname="PoolTest" />
  </testsuite>
</testsuites>"""

GOOGLETEST_GOOD = """<testsuites tests="2">
  <testsuite name="T" tests="2">
    <testcase name="A" status="run" result="completed" classname="T" />
    <testcase name="B" status="run" result="completed" classname="T" />
  </testsuite>
</testsuites>"""

# What Bazel writes for a test that writes nothing itself.
BAZELS_OWN = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="tests/tools/setup_test" tests="1" failures="0" errors="0">
    <testcase name="tests/tools/setup_test" status="run" duration="0" time="0">
    </testcase>
    <system-out><![CDATA[All good.]]></system-out>
  </testsuite>
</testsuites>"""


def built(label, success=True):
    event = {"id": {"targetCompleted": {"label": label}}, "completed": {}}
    if success:
        event["completed"]["success"] = True
    return event


def result(label, status, xml=None, run=1, shard=1, attempt=1):
    outputs = [{"name": "test.log", "uri": "log"}]
    if xml is not None:
        outputs.append({"name": "test.xml", "uri": xml})
    return {
        "id": {"testResult": {"label": label, "run": run, "shard": shard,
                              "attempt": attempt}},
        "testResult": {"testActionOutput": outputs, "status": status},
    }


def count(events, bazel_exit_code=0):
    # The text of the file stands in for its address.
    return count_tests.count_events(events, bazel_exit_code, lambda uri: uri)


class CountEventsTest(unittest.TestCase):

    def test_counts_cases_of_googletest(self):
        counts = count([built("//a:b"), result("//a:b", "FAILED", GOOGLETEST)], 3)
        self.assertEqual(counts.summary(), "2 passed, 1 failed, 2 skipped")
        self.assertEqual(counts.failed, ["//a:b PoolTest.Bad"])
        self.assertEqual(counts.skipped,
                         [("//a:b PoolTest.NoGpu", "no GPU"),
                          ("//a:b PoolTest.DISABLED_Old", "disabled")])

    def test_counts_other_tests_as_one(self):
        counts = count([result("//a:sh", "PASSED", BAZELS_OWN),
                        result("//a:py", "PASSED")])
        self.assertEqual(counts.summary(), "2 passed, 0 failed, 0 skipped")

    def test_a_failed_test_without_cases_counts_as_one_failure(self):
        counts = count([result("//a:sh", "FAILED", BAZELS_OWN),
                        result("//a:slow", "TIMEOUT"),
                        result("//a:torn", "FAILED", "<testsuites><test")], 3)
        self.assertEqual(counts.summary(), "0 passed, 3 failed, 0 skipped")
        self.assertEqual(counts.failed,
                         ["//a:sh (FAILED)", "//a:slow (TIMEOUT)",
                          "//a:torn (FAILED)"])

    def test_a_report_after_good_cases_is_a_failure(self):
        counts = count([result("//a:leak", "FAILED", GOOGLETEST_GOOD)], 3)
        self.assertEqual(counts.summary(), "2 passed, 1 failed, 0 skipped")
        self.assertEqual(counts.failed, ["//a:leak (FAILED after its cases)"])

    def test_only_the_last_attempt_counts(self):
        counts = count([
            result("//a:flaky", "FAILED", GOOGLETEST, attempt=1),
            result("//a:flaky", "PASSED", GOOGLETEST_GOOD, attempt=2)])
        self.assertEqual(counts.summary(), "2 passed, 0 failed, 0 skipped")

    def test_shards_and_runs_add_up(self):
        counts = count([result("//a:b", "PASSED", GOOGLETEST_GOOD, shard=1),
                        result("//a:b", "PASSED", GOOGLETEST_GOOD, shard=2),
                        result("//a:b", "PASSED", GOOGLETEST_GOOD, run=2)])
        self.assertEqual(counts.summary(), "6 passed, 0 failed, 0 skipped")

    def test_a_target_that_does_not_build_is_a_failure(self):
        counts = count([built("//a:b", success=False), built("//a:lib")], 1)
        self.assertEqual(counts.summary(), "0 passed, 1 failed, 0 skipped")
        self.assertEqual(counts.failed, ["//a:b (did not build)"])

    def test_a_target_for_another_configuration_is_skipped(self):
        counts = count([{"id": {"targetCompleted": {"label": "//a:gpu"}},
                         "aborted": {"reason": "SKIPPED"}}])
        self.assertEqual(counts.summary(), "0 passed, 0 failed, 1 skipped")

    def test_an_error_of_bazel_alone_is_a_failure(self):
        counts = count([], 2)
        self.assertEqual(counts.summary(), "0 passed, 1 failed, 0 skipped")

    def test_an_empty_run_is_empty(self):
        self.assertEqual(count([]).summary(), "0 passed, 0 failed, 0 skipped")


class MainTest(unittest.TestCase):

    def run_main(self, lines, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            xml = os.path.join(folder, "a b.xml")
            with open(xml, "w") as file:
                file.write(GOOGLETEST)
            path = os.path.join(folder, "events")
            with open(path, "w") as file:
                for line in lines(xml.replace(" ", "%20")):
                    file.write(json.dumps(line) + "\n")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = count_tests.main([path, *arguments])
            return code, output.getvalue().splitlines()

    def test_prints_names_and_ends_with_the_counts(self):
        code, lines = self.run_main(
            lambda xml: [result("//a:b", "FAILED", "file://" + xml)],
            "--bazel_exit_code=3")
        self.assertEqual(code, 1)
        self.assertEqual(lines, [
            "skipped: disabled: //a:b PoolTest.DISABLED_Old",
            "skipped: no GPU: //a:b PoolTest.NoGpu",
            "FAILED: //a:b PoolTest.Bad",
            "2 passed, 1 failed, 2 skipped",
        ])

    def test_ends_with_0_if_none_failed(self):
        code, lines = self.run_main(lambda xml: [result("//a:b", "PASSED")])
        self.assertEqual(code, 0)
        self.assertEqual(lines, ["1 passed, 0 failed, 0 skipped"])

    def test_a_missing_event_file_is_an_error_of_bazel(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = count_tests.main(["/nonexistent", "--bazel_exit_code=37"])
        self.assertEqual(code, 1)
        self.assertEqual(output.getvalue().splitlines()[-1],
                         "0 passed, 1 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
