#!/usr/bin/python3
"""Checks that clang-format would change no C or C++ file."""
import os
import subprocess
import sys
from pathlib import Path


def main():
    os.chdir(Path(__file__).resolve().parent.parent)
    files = subprocess.run(
        ["git", "ls-files", "*.cc", "*.h", "*.c"], capture_output=True, text=True, check=True
    ).stdout.split()
    files = [f for f in files if os.path.exists(f)]
    done = subprocess.run(
        ["clang-format", "--dry-run", "--Werror", *files], capture_output=True, text=True
    )
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if ": error:" in line})
    print(
        *(f"{f}: not formatted (make format)" for f in wrong), sep="\n", end="\n" if wrong else ""
    )
    print(f"format: {len(files)} files, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
