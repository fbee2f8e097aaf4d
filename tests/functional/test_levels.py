"""Levels, trust, profiles: required, never hoped for; a weaker one is said three times."""
import pytest

from support.host import needs_root
from support.program import PADDOCK
from support.twins import bare


def test_generated_is_the_default_and_the_acceptance_is_said_three_times(paddock):
    done = paddock.sh("true").ok()
    assert done.decision["trust"] == "generated" and done.decision["level"] == "container"
    assert "shipped policy" in done.decision["accepted_by"]
    lines = [line for line in done.err.splitlines() if line]
    assert len(lines) == 1 and "kernel" in lines[0] and "shipped policy" in lines[0], done.err


def test_reviewed_code_needs_no_acceptance(paddock):
    done = paddock.sh("true", "--trust", "reviewed").ok()
    assert done.decision["accepted_by"] is None and done.err == ""


def test_hostile_is_refused_with_reason_and_remedy(paddock):
    done = paddock.sh("echo ran", "--trust", "hostile").refused("hostile", "microvm")
    assert done.out == ""


@pytest.mark.parametrize("level", ["gvisor", "microvm"])
def test_a_level_that_is_not_built_is_refused_and_never_replaced(paddock, level):
    done = paddock.sh("echo ran", "--level", level).refused(level)
    assert done.out == ""


def test_a_level_weaker_than_the_trust_requires_is_refused(paddock):
    done = paddock.sh("echo ran", "--level", "process")
    assert done.code == 125 and done.out == ""


@pytest.mark.parametrize(
    "option,value", [("--level", "contaner"), ("--trust", "trusted"), ("--profile", "none-such")]
)
def test_an_unknown_name_is_refused_with_the_known_ones(paddock, option, value):
    done = paddock.sh("true", option, value).refused(value)
    known = {"--level": "container", "--trust": "generated", "--profile": "untrusted"}[option]
    assert known in done.err


def test_profile_untrusted_asks_for_the_strongest_level(paddock):
    paddock.sh("echo ran", "--profile", "untrusted").refused("microvm")


@pytest.mark.parametrize("profile", ["edit"])
def test_profiles_that_this_host_can_give_run(paddock, profile):
    assert paddock.sh("echo ran", "--profile", profile).ok().out == "ran\n"


def test_evidence_from_inside_matches_the_decision(paddock):
    done = paddock.sh(
        "grep -E '^(NoNewPrivs|Seccomp|CapEff|CapPrm|CapInh|CapBnd|CapAmb):' /proc/self/status"
    ).ok()
    values = dict(line.split(":\t") for line in done.out.splitlines())
    assert values["NoNewPrivs"] == "1" and values["Seccomp"] == "2"
    assert {values[f"Cap{name}"] for name in ("Eff", "Prm", "Inh", "Bnd", "Amb")} == {"0" * 16}


def test_every_control_has_a_state_and_a_detail(paddock):
    controls = paddock.sh("true").ok().decision["controls"]
    assert {"seccomp", "network", "files.hide"} <= {c["name"] for c in controls}
    assert all(c["detail"] for c in controls)


def test_in_a_chroot_the_remedy_is_named(paddock, base):
    needs_root()
    root = base / "chroot"
    for folder in ("usr", "proc", "dev", "etc", "tmp", "root/w", "programs"):
        (root / folder).mkdir(parents=True)
    for link in ("bin", "lib", "lib64", "sbin"):
        (root / link).symlink_to(f"usr/{link}")
    script = (
        f"mount --rbind /usr {root}/usr && mount --rbind /proc {root}/proc && mount --rbind /dev {root}/dev && "
        f"mount --bind {PADDOCK.parent} {root}/programs && "
        f"exec chroot {root} sh -c 'cd /root/w && PADDOCK_HOME=/tmp/state /programs/paddock run -- true'"
    )
    done = bare("unshare", "-m", "sh", "-c", script)
    assert done.returncode == 125 and "this runs in a chroot" in done.stderr, done
