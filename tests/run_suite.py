#!/usr/bin/python3
"""Runs pytest files against the built programs as root or as an ordinary user.

run_suite.py --as root|user --build BUILD FILE… [pytest option…]

The programs, the guests and these tests are first copied to a folder that both users can read (a clone
may lie in /root), and all that a test makes is made below that folder. Root becomes `paddock-test`,
which is made when it is not there; without root, `--as root` is skipped as a whole.
"""
import argparse
import array
import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
USER = "paddock-test"
PACKAGES = "packages"  # where npm_packages.py has put them, in the build folder as in the suite's
DISK_BYTES = 8 << 30  # of a suite; taken as it is written
SKIPPED_AS_A_WHOLE = """<?xml version="1.0"?>
<testsuites><testsuite name="{name}" tests="1" skipped="1">
<testcase classname="{name}" name="every test"><skipped message="needs root: run as an ordinary user"/>
</testcase></testsuite></testsuites>
"""


def test_user():
    with open("/run/paddock-test-user.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return pwd.getpwnam(USER)
        except KeyError:
            subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", USER], check=True)
            return pwd.getpwnam(USER)


def spread(folder):
    """Gives each folder made in this one a place of its own on the disk (chattr +T)."""
    get, put, top_of_trees = 0x80086601, 0x40086602, 0x20000  # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_TOPDIR_FL
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flags = array.array("i", [0, 0])
        fcntl.ioctl(fd, get, flags)
        flags[0] |= top_of_trees
        fcntl.ioctl(fd, put, flags)
    except OSError:  # other file systems know no such mark
        pass
    finally:
        os.close(fd)


def mount_disk(folder):
    """Makes the folder an ext4 of its own, in a file without a name. Whether that works here.

    ext4 without a journal, as some virtual machines have it, reuses no inode that was freed within minutes,
    and reads each of them to know: what earlier tests removed costs later ones most of their time. One
    with a journal does not, and a suite's goes as a whole. Where none can be mounted, the folder lies on
    the machine's own disk, and its tests far from each other."""
    with tempfile.NamedTemporaryFile(dir=folder.parent, prefix="disk-") as image:
        image.truncate(DISK_BYTES)
        options = "lazy_itable_init=1,lazy_journal_init=1,nodiscard"
        made = ["mkfs.ext4", "-q", "-F", "-m", "0", "-E", options, image.name]
        mounted = ["mount", "-o", "loop,discard,noinit_itable", image.name, folder]
        for command in made, mounted:
            try:
                if subprocess.run(command, capture_output=True).returncode != 0:
                    return False
            except FileNotFoundError:
                return False
    (folder / "lost+found").rmdir()
    return True


def link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)


@contextlib.contextmanager
def stage(build, account, kind):
    """A folder with bin/, guests/, tests/ and a tmp/ that belongs to the user of the tests, for as long as
    they run."""
    parent = "/srv" if os.geteuid() == 0 and os.path.isdir("/srv") else "/var/tmp"
    top = Path(tempfile.mkdtemp(prefix="paddock-test-", dir=parent))
    top.chmod(0o755)
    (top / "bin").mkdir()
    for program in ("paddock", "paddock-agent", "paddock-ssh"):
        shutil.copy(build / "bin" / program, top / "bin" / program)
    shutil.copytree(build / "share", top / "share")
    shutil.copytree(
        build / "guests", top / "guests", ignore=shutil.ignore_patterns("CMakeFiles", "*.cmake")
    )
    for folder in ("tests", "examples"):
        shutil.copytree(TESTS.parent / folder, top / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TESTS.parent / "README.md", top / "README.md")
    if (build / PACKAGES).exists() and kind in ("compat", "examples"):
        shutil.copytree(build / PACKAGES, top / PACKAGES, symlinks=True, copy_function=link,
                        ignore=shutil.ignore_patterns("cache"))  # fmt: skip
    (top / "tmp").mkdir()
    mounted = os.geteuid() == 0 and mount_disk(top / "tmp")
    if not mounted:
        spread(top / "tmp")
    os.chown(top / "tmp", account.pw_uid, account.pw_gid)
    try:
        yield top
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", top / "tmp"], check=True)
        shutil.rmtree(top, ignore_errors=True)


def environment(top, account):
    passed = ("PATH", "CI", "TERM", "PADDOCK_KILLED_RUNS", "PADDOCK_TEST_PATIENCE")
    kept = {name: os.environ[name] for name in passed if name in os.environ}
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        **kept,
        "HOME": account.pw_dir,
        "USER": account.pw_name,
        "LOGNAME": account.pw_name,
        "LANG": "C.UTF-8",
        "PADDOCK_TEST_TOP": str(top),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run_pytest(top, account, files, options, name):
    results = top / "tmp" / "results.xml"
    command = [
        "/usr/bin/python3",
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "-rfEsx",
        "--tb=short",
        f"--junitxml={results}",
        "-o",
        f"junit_suite_name={name}",
        *options,
        *(str(top / "tests" / file) for file in files),
    ]
    become = {}
    if os.geteuid() == 0 and account.pw_uid != 0:
        groups = os.getgrouplist(account.pw_name, account.pw_gid)
        become = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": groups}
    status = subprocess.run(
        command,
        cwd=top / "tests",
        env=environment(top, account),
        stdin=subprocess.DEVNULL,
        **become,
    ).returncode
    return status, results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--as", dest="who", choices=["root", "user"], required=True)
    parser.add_argument("--build", type=Path, default=TESTS.parent / "build")
    parser.add_argument("files", nargs="+")
    args, options = parser.parse_known_args()
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(
            ignored, signal.SIG_DFL
        )  # as at a terminal, though nohup or a shell's & started us
    name = f"{'+'.join(Path(f).stem for f in args.files)}.{args.who}"
    kept = args.build / "test-results" / f"{args.files[0].split('/')[0]}.{name}.xml"
    kept.parent.mkdir(exist_ok=True)
    if args.who == "root" and os.geteuid() != 0:
        kept.write_text(SKIPPED_AS_A_WHOLE.format(name=name))
        print("skipped: needs root")
        return 0
    account = pwd.getpwuid(os.geteuid())
    if args.who == "user" and os.geteuid() == 0:
        account = test_user()
    with stage(args.build, account, args.files[0].split("/")[0]) as top:
        status, results = run_pytest(top, account, args.files, options, name)
        if results.exists():
            shutil.copy(results, kept)
        return status


if __name__ == "__main__":
    sys.exit(main())
