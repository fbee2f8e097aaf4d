#!/usr/bin/python3
"""An online judge. Nothing of a submission runs outside of a sandbox, its compiler included.

judge.py [--json] [--seconds N] PROBLEM SUBMISSION…

PROBLEM is a folder with N.in and N.out; a submission is a .py or .c file. Each test is a `paddock run` of its
own, so no test sees what another one left. Verdicts are made of the outcome, which the program cannot forge.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

SANDBOX = ["paddock", "run", "--quiet", "--mode", "none", "--egress", "none", "--cpus", "1"]
COMPILING = ["--memory", "512m", "--pids", "64", "--timeout", "20s", "--output-limit", "16m"]
RUNNING = ["--memory", "128m", "--pids", "32", "--output-limit", "64k", "--disk", "16m"]
# Source comes by stdin, the program leaves by stdout: no file of the judge is in the compiler's sight.
COMPILE_C = ["sh", "-c", "gcc -O2 -x c -o /tmp/main - -lm && cat /tmp/main"]
LANGUAGES = {".py": (None, ["python3", "/submission/main"]), ".c": (COMPILE_C, ["/submission/main"])}


@dataclass
class Result:
    submission: str
    verdict: str = "accepted"
    test: str = ""  # the first one that was not passed
    milliseconds: int = 0  # of the slowest test
    tried: list = field(default_factory=list)  # what was refused


def run(options, command, given, scratch):
    """What came out, and the report of `--outcome` (docs/outcome.md)."""
    report = scratch / "report.json"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [*SANDBOX, *options, "--outcome", report, "--", *command], input=given, capture_output=True
    )
    if not report.exists():
        raise SystemExit(f"the judge itself failed: {done.stderr.decode()}")
    return done.stdout, json.loads(report.read_text())["outcome"]


def verdict_of(outcome, out, expected):
    if outcome["ending"] == "setup_failed":
        raise SystemExit(f"the judge itself failed: {outcome['reason']}")
    by_ending = {
        "timed_out": "time limit",
        "oom_killed": "memory limit",
        "violated": "output limit" if "limits.output" in outcome["reason"] else "forbidden",
        "signalled": f"runtime error (signal {outcome['code']})",
        "killed": "runtime error (killed)",
    }
    if outcome["ending"] != "exited":
        return by_ending[outcome["ending"]]
    if outcome["code"] != 0:
        return f"runtime error (status {outcome['code']})"
    return "accepted" if out.split() == expected.split() else "wrong answer"


def judge(problem, submission, seconds):
    compiler, command = LANGUAGES[submission.suffix]
    result = Result(submission.name)
    with tempfile.TemporaryDirectory(prefix="judge-") as folder:
        scratch = Path(folder)
        (scratch / "submission").mkdir()
        program, source = scratch / "submission" / "main", submission.read_bytes()
        if compiler:
            source, outcome = run(COMPILING, compiler, source, scratch)
            if outcome["exit_status"] != 0:
                result.verdict = "compile error"
                return result
        program.write_bytes(source)
        program.chmod(0o755)
        for test in sorted(problem.glob("*.in")):
            own = ["--timeout", f"{seconds}s", "--mount", f"{program.parent}:/submission:ro"]
            out, outcome = run([*RUNNING, *own], command, test.read_bytes(), scratch)
            result.milliseconds = max(result.milliseconds, outcome["usage"]["wall_us"] // 1000)
            result.tried += [f"{d['kind']} {d['what']}" for d in outcome["denials"]]
            result.verdict = verdict_of(outcome, out, test.with_suffix(".out").read_bytes())
            if result.verdict != "accepted":
                result.test = test.stem
                break
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("problem", type=Path)
    parser.add_argument("submissions", type=Path, nargs="+")
    args = parser.parse_args()
    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda one: judge(args.problem, one, args.seconds), args.submissions))
    if args.json:
        json.dump([vars(result) for result in results], sys.stdout, indent=2)
        return
    for one in results:
        at = f"test {one.test}" if one.test else ""
        print(f"{one.submission:14} {one.verdict:26} {at:8} {one.milliseconds:5} ms  {', '.join(one.tried)}")


main()
