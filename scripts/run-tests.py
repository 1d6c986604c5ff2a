#!/usr/bin/env python3
"""Runs the format check, the lit suite and the unit tests of a build.

Prints what failed and, as the last line, "N passed, N failed", with
", N skipped" where an optional dependency is absent.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIT = "/usr/lib/llvm-22/bin/lit"


class Tally:
    """Counts of single tests over all runners."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, name, ok):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {name}", flush=True)


def check_format(tally):
    files = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.h"], cwd=ROOT, text=True, capture_output=True
    ).stdout.split()
    if not files:
        return
    result = subprocess.run(["clang-format-22", "--dry-run", "-Werror", *files], cwd=ROOT)
    tally.add("format (clang-format-22)", result.returncode == 0)


def run_lit(build, tally):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "lit.json")
        subprocess.run([sys.executable, LIT, "-q", "-o", report, build / "test"])
        if not os.path.exists(report):
            tally.add("lit (no report)", False)
            return
        with open(report) as file:
            tests = json.load(file)["tests"]
    for test in tests:
        if test["code"] == "UNSUPPORTED":
            tally.skipped += 1
        else:
            tally.add(test["name"], test["code"] in ("PASS", "XFAIL", "FLAKYPASS"))


def run_gtest(binary, tally):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        result = subprocess.run(
            [binary, f"--gtest_output=xml:{report}", "--gtest_brief=1"], cwd=folder
        )
        if not os.path.exists(report):
            tally.add(f"{binary.name} (no report, exit {result.returncode})", False)
            return
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            tally.add(name, case.find("failure") is None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    tally = Tally()
    check_format(tally)
    run_lit(build, tally)
    for binary in sorted((build / "bin").glob("*-test")):
        run_gtest(binary, tally)
    line = f"{tally.passed} passed, {tally.failed} failed"
    print(line + (f", {tally.skipped} skipped" if tally.skipped else ""))
    return 1 if tally.failed or not tally.passed else 0


sys.exit(main())
