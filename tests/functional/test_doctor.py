"""`paddock doctor`: what this host gives, proved by doing it, with the remedy otherwise."""
import os
import subprocess

from support.host import needs_root
from support.program import PADDOCK


def rows(paddock):
    return {row["name"]: row for row in paddock("doctor", "--json").ok().json()}


def test_every_row_has_state_and_proof_and_what_is_missing_a_remedy(paddock):
    found = rows(paddock)
    assert {"container", "microvm", "gvisor"} <= {
        name.split(".")[0] for name in found
    }, found.keys()
    for row in found.values():
        assert row["state"] in ("enforced", "approximated", "refused")
        assert row["proof"], row
        assert row["state"] == "enforced" or row["remedy"], row


def test_the_plain_report_names_each_row(paddock):
    found, text = rows(paddock), paddock("doctor").out
    assert all(name in text for name in found)


def test_what_doctor_says_is_what_a_run_gets(paddock):
    found, done = rows(paddock), paddock.sh("true").ok()
    assert found["container"]["state"] == "enforced"
    for name in ("memory", "pids", "cpus"):
        said = next((row["state"] for key, row in found.items() if key.endswith(name)), None)
        if said:
            assert said == done.control(f"limits.{name}"), name


def test_the_presence_of_dev_kvm_proves_nothing(paddock):
    row = next((row for name, row in rows(paddock).items() if "kvm" in name), None)
    if os.path.exists("/dev/kvm") and row:
        assert row["state"] != "enforced" or "boot" in row["proof"], row


def test_a_host_without_user_namespaces_is_named_with_the_remedy(paddock):
    needs_root()
    script = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    doctor = subprocess.run(
        ["unshare", "-U", "-r", "sh", "-c", script, "sh", PADDOCK, "doctor", "--json"],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
    )
    assert (
        "user namespace" in (doctor.stdout + doctor.stderr).lower()
        and "max_user_namespaces" in doctor.stdout
    )
    run = subprocess.run(
        ["unshare", "-U", "-r", "sh", "-c", script, "sh", PADDOCK, "run", "--", "echo", "ran"],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 125 and run.stdout == "" and "max_user_namespaces" in run.stderr, run


def test_doctor_leaves_nothing_behind(paddock, base):
    paddock("doctor")
    assert not list((base / "state" / "sandboxes").glob("[!.]*"))
