#!/usr/bin/python3
"""Checks that each header compiles alone. A header that its own .cc or test includes first is proved
by the build, where that compiles the file by itself; the rest are compiled here.

check_headers.py [BUILD]   BUILD holds generated/ (agent.pb.h) and compile_commands.json, default build
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FLAGS = [
    "-std=c++20",
    "-c",
    "-D_GNU_SOURCE",
    "-D_FILE_OFFSET_BITS=64",
    "-w",
    "-x",
    "c++",
]
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)


def proved_by_build(header, compiled):
    for name in (f"{header.stem}.cc", f"{header.stem}_test.cc"):
        source = header.with_name(name)
        if str(source.resolve()) in compiled:
            first = FIRST_INCLUDE.search(source.read_text(errors="replace"))
            if first and first[1] == str(header.relative_to("src")):
                return True
    return False


def compile_alone(header, build, folder):
    command = [
        *filter(None, [shutil.which("ccache")]),  # a second run costs next to nothing
        os.environ.get("CXX", "g++"),
        *FLAGS,
        "-o",
        f"{folder}/{str(header).replace('/', '-')}.o",
        "-iquote",
        "src",
        "-iquote",
        f"{build}/generated",
        str(header),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    return (header, done.stderr) if done.returncode else None


def main():
    os.chdir(Path(__file__).resolve().parent.parent)
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    headers = sorted(Path("src").rglob("*.h"))
    compiled = {entry["file"] for entry in json.loads(Path(build, "compile_commands.json").read_text())}
    alone = [h for h in headers if not proved_by_build(h, compiled)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        failed = [f for f in pool.map(lambda h: compile_alone(h, build, folder), alone) if f]
    for header, errors in failed:
        print(f"{header} does not compile alone:\n{errors}")
    print(f"headers: {len(headers)}, {len(alone)} compiled alone, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
