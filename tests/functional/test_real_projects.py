"""Projects that are not ours: their own tests pass inside with the same result as outside."""
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.host import needs
from support.program import TOP
from support.trees import git

APT_SOURCES = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]


def fetched(command, cwd):
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    needs("package-registry", done.returncode == 0, f"{command[0]}: {done.stderr[-300:]}")


def source_entries(text):
    """The package sources of this machine, as sources of source packages."""
    text = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.M)
    return re.sub(r"^deb ", "deb-src ", text, flags=re.M)


@pytest.fixture
def zlib(base):
    """zlib from Debian's source package, fetched with apt folders of our own (no root needed)."""
    apt = base / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "parts"):
        (apt / folder).mkdir(parents=True)
    for file in APT_SOURCES:
        if file.suffix in (".list", ".sources") and file.is_file():
            (apt / "parts" / file.name).write_text(source_entries(file.read_text()))
    options = ["-oDir::Etc::sourcelist=/dev/null", f"-oDir::Etc::sourceparts={apt}/parts"]
    options += [
        f"-oDir::State::lists={apt}/lists",
        f"-oDir::Cache={apt}/cache",
        "-oAPT::Sandbox::User=",
    ]
    fetched(["apt-get", *options, "-q", "update"], apt)
    fetched(["apt-get", *options, "-q", "source", "--download-only", "zlib"], apt)
    project = base / "home" / "zlib"
    project.mkdir()
    archive = next(apt.glob("zlib_*.orig.tar.*"))
    subprocess.run(
        ["tar", "--no-same-owner", "-xf", archive, "-C", project, "--strip-components=1"],
        check=True,
    )
    return project


@pytest.fixture
def minimist(base):
    """An npm package whose tests come with it."""
    needs("npm", shutil.which("npm"), "not installed")
    project = base / "home" / "npm"
    project.mkdir()
    (project / "package.json").write_text(
        '{"name": "x", "version": "1.0.0", "dependencies": {"minimist": "1.2.8", "tape": "^5"}}'
    )
    fetched(["npm", "install", "--no-audit", "--no-fund", "--cache", base / "npm-cache"], project)
    return project


def as_repository(project):
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "upstream")
    return project


def same_inside_and_outside(paddock, project, script, interesting):
    """Runs `script` on a copy outside and in the view, and compares the interesting lines."""
    outside = TOP / "tmp" / f"{project.name}-outside"
    shutil.copytree(project, outside, symlinks=True)
    done = subprocess.run(["sh", "-c", script], cwd=outside, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)  # fmt: skip
    shutil.rmtree(outside)
    inside = paddock.sh(script, cwd=project, patience=600)
    pick = lambda text: [
        line for line in text.splitlines() if re.search(interesting, line)
    ]  # noqa: E731
    assert done.returncode == 0 and pick(done.stdout), done
    assert inside.code == 0 and pick(inside.out) == pick(done.stdout), inside


def test_the_tests_of_a_c_project_from_a_debian_source_package(paddock, zlib):
    needs("compiler", shutil.which("gcc") and shutil.which("make"), "not installed")
    project = as_repository(zlib)
    script = "./configure >/dev/null && make -s test 2>&1"
    same_inside_and_outside(paddock, project, script, r"OK|hello|FAILED")
    assert git(project, "status", "--short") == ""


def test_the_tests_of_an_npm_package(paddock, minimist):
    project = as_repository(minimist)
    script = "cd node_modules/minimist && ../.bin/tape 'test/*.js'"
    same_inside_and_outside(paddock, project, script, r"^(ok|not ok|# )")
    assert git(project, "status", "--short") == ""
