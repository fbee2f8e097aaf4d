#!/usr/bin/python3
"""Lists what the test run skipped, by missing capability, and fails on a skip without a reason.

check_skips.py RESULTS…   folders of JUnit files (gtest and pytest write them)

A test skips with the message `needs CAPABILITY: detail`. tests/expected_skips.txt says for each
capability on which machines it may be missing, as a shell condition. A skip is unexpected when its
capability has no row, or when the condition does not hold here: then the test should have run. The
condition sees as $SUITE who the test ran as: root or user, or guest for a kernel of its own."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections import defaultdict
from pathlib import Path

NEEDS = re.compile(r"\bneeds ([a-z0-9.-]+)")


def skips(folder):
    user = "root" if os.geteuid() == 0 else "user"
    for file in sorted(Path(folder).glob("*.xml")):
        for case in xml.parse(file).iter("testcase"):
            for skipped in case.iter("skipped"):
                text = f"{skipped.get('message') or ''} {skipped.text or ''}"
                needs = NEEDS.search(text)
                suite = next((s[1:] for s in file.suffixes if s in (".root", ".user")), user)
                if file.stem == "agent_guest_test":
                    suite = "guest"
                yield needs[
                    1
                ] if needs else None, suite, f"{file.stem}: {case.get('name')}", text.strip()


def expected():
    table = Path(__file__).resolve().parent.parent / "tests" / "expected_skips.txt"
    for line in table.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            capability, condition, reason = (part.strip() for part in line.split(" ; ", 2))
            yield capability, (condition, reason)


def is_right(condition, suite):
    return (
        subprocess.run(
            ["bash", "-c", condition], env={**os.environ, "SUITE": suite}, capture_output=True
        ).returncode
        == 0
    )


def main():
    rows, by_capability, nameless = dict(expected()), defaultdict(list), []
    for folder in sys.argv[1:]:
        for capability, suite, test, text in skips(folder):
            if capability is None:
                nameless.append(f"{test}: {text}")
            else:
                by_capability[capability, suite].append(test)
    failed = len(nameless)
    for (capability, suite), tests in sorted(by_capability.items()):
        condition, reason = rows.get(capability, ("false", "no row in tests/expected_skips.txt"))
        right = is_right(condition, suite)
        failed += 0 if right else len(tests)
        print(
            f"skipped, {'expected' if right else 'UNEXPECTED'}: {len(tests)} as {suite} need {capability} ({reason})"
        )
        print(*(f"    {test}" for test in tests), sep="\n")
    print(
        *(f"skipped, UNEXPECTED, names no capability: {line}" for line in nameless),
        sep="\n",
        end="\n" if nameless else "",
    )
    total = sum(map(len, by_capability.values())) + len(nameless)
    print(f"skips: {total}, {failed} unexpected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
