#!/usr/bin/python3
"""run_as.py root|user FOLDER PROGRAM RESULTS [gtest option…]

Runs a gtest program as root or as the ordinary user of the test suites, from a copy of FOLDER that both
can read. Its report goes to RESULTS. Suites named *ByRoot are left out for the user."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from run_suite import SKIPPED_AS_A_WHOLE, test_user  # noqa: E402


def main():
    user, folder, program, results, *options = sys.argv[1:]
    results = Path(results)
    results.parent.mkdir(parents=True, exist_ok=True)
    if user == "root" and os.geteuid() != 0:
        results.write_text(SKIPPED_AS_A_WHOLE.format(name=results.stem))
        return 0
    if user == "user":
        options.append("--gtest_filter=-*ByRoot.*")
    become, home = {}, os.environ.get("HOME", "/")
    with tempfile.TemporaryDirectory(prefix="paddock-test-", dir="/var/tmp") as top:
        os.chmod(top, 0o755)
        shutil.copytree(folder, Path(top) / "bin")
        report = Path(top) / "report"
        report.mkdir()
        if user == "user" and os.geteuid() == 0:
            account = test_user()
            become = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
            home = account.pw_dir
            os.chown(report, account.pw_uid, account.pw_gid)
        status = subprocess.run(
            [
                f"{top}/bin/{program}",
                f"--gtest_output=xml:{report}/r.xml",
                "--gtest_brief=1",
                *options,
            ],
            cwd=top,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home},
            stdin=subprocess.DEVNULL,
            **become,
        ).returncode
        if (report / "r.xml").exists():
            shutil.copy(report / "r.xml", results)
    return status


if __name__ == "__main__":
    sys.exit(main())
