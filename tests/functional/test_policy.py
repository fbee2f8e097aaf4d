"""Policy: three tiers, the project tier can only narrow, unknown keys are errors, everything explained."""
import json
import subprocess

import pytest

from support.host import needs_root


def user_policy(paddock, text):
    folder = paddock.home / ".config" / "paddock"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "policy.toml").write_text(text)


def project_policy(paddock, text):
    (paddock.workspace / "paddock.toml").write_text(text)


def explained(paddock):
    rows = paddock("policy", "explain", "--json").ok().json()
    return {row["key"]: row for row in rows}


def test_explain_shows_value_tier_and_state_of_every_setting(paddock):
    rows = explained(paddock)
    assert {"limits.memory", "limits.pids", "trust", "files.hide"} <= set(rows), rows.keys()
    for row in rows.values():
        assert row["origin"] and "value" in row, row
    text = paddock("policy", "explain").ok().out
    assert all(name in text for name in rows)


def test_the_user_tier_sets_and_is_named_as_the_source(paddock):
    user_policy(paddock, "[limits]\npids = 77\n")
    row = explained(paddock)["limits.pids"]
    assert str(row["value"]) == "77" and "user" in row["origin"]
    assert paddock.sh("true").ok().control("limits.pids") in ("enforced", "approximated")


def test_the_project_tier_narrows(paddock):
    project_policy(paddock, "[limits]\npids = 33\n")
    row = explained(paddock)["limits.pids"]
    assert str(row["value"]) == "33" and "project" in row["origin"]


def test_the_project_tier_never_widens(paddock):
    user_policy(paddock, "[limits]\npids = 50\n")
    project_policy(paddock, "[limits]\npids = 5000\n")
    for command in (("policy", "explain"), ("run", "-q", "--", "echo", "ran")):
        done = paddock(*command)
        assert done.code != 0 and "ran" not in done.out, done
        assert all(word in done.err for word in ("limits.pids", "5000", "50", "paddock.toml")), done
    project_policy(paddock, "[limits]\npids = 49\n")
    assert str(explained(paddock)["limits.pids"]["value"]) == "49"


@pytest.mark.parametrize(
    "text",
    [
        'trust = "reviewed"\n',
        '[accept]\nhostile = "container"\n',
        '[files]\nshow = [".env"]\n',
        '[files]\nread = ["/root"]\n',
        '[files]\nwrite = ["/etc"]\n',
    ],
)
def test_what_would_widen_in_a_project_file_is_an_error_or_has_no_effect(paddock, repo, text):
    (repo / ".env").write_text("HOST SECRET\n")
    project_policy(paddock, text)
    done = paddock.sh("cat .env; cat /etc/shadow")
    assert "HOST SECRET" not in done.out and "root:" not in done.out
    if done.code != 125:
        assert done.decision["trust"] == "generated" and done.decision["accepted_by"]
    else:
        assert "paddock.toml" in done.err


def test_a_project_file_cannot_accept_for_hostile(paddock):
    project_policy(paddock, '[accept]\nhostile = "container"\n')
    assert paddock.sh("echo ran", "--trust", "hostile").code == 125


def test_the_user_may_accept_and_the_decision_names_who(paddock):
    user_policy(paddock, '[accept]\ngenerated = "container"\n')
    done = paddock.sh("true").ok()
    assert "policy.toml" in done.decision["accepted_by"] or "user" in done.decision["accepted_by"]


def test_the_user_may_require_more_than_shipped_policy(paddock):
    user_policy(paddock, 'level = "microvm"\n')
    paddock.sh("true").refused("microvm")


@pytest.mark.parametrize(
    "text,known",
    [
        ("[limits]\nmemroy = 1\n", "memory"),
        ("[limit]\nmemory = 1\n", "limits"),
        ("[files]\nhidden = []\n", "hide"),
        ("trusted = 1\n", "trust"),
    ],
)
def test_an_unknown_key_is_an_error_with_the_nearest_known_one(paddock, text, known):
    for place in (user_policy, project_policy):
        place(paddock, text)
        done = paddock.sh("echo ran")
        assert done.code == 125 and done.out == ""
        assert known in done.err and ".toml" in done.err
        place(paddock, "")


@pytest.mark.parametrize(
    "text",
    [
        "[limits\n",
        "limits = 3\n",
        '[limits]\npids = "many"\n',
        "\xff\xfe",
        "[limits]\npids = -4\n",
        "[limits]\npids = 99999999999999999999\n",
    ],
)
def test_a_broken_file_is_an_error_that_names_file_and_line(paddock, text):
    user_policy(paddock, text)
    done = paddock.sh("echo ran")
    assert done.code == 125 and done.out == "" and "policy.toml" in done.err


def test_flags_win_over_files_within_the_admin_tier(paddock):
    user_policy(paddock, "[limits]\npids = 50\n")
    assert paddock.guest("forks", "80", options=["--pids", "200"]).ok().out == "80 ok\n"


def run_with_admin_policy(paddock, text, *args):
    """paddock with /etc/paddock/policy.toml of our own, in a mount namespace of our own."""
    file = paddock.base / "admin.toml"
    file.write_text(text)
    upper, work = paddock.base / "etc-upper", paddock.base / "etc-work"
    upper.mkdir(exist_ok=True), work.mkdir(exist_ok=True)
    script = (
        'mount -t overlay -o lowerdir=/etc,upperdir="$1",workdir="$2" none /etc && mkdir -p /etc/paddock && '
        'cp "$3" /etc/paddock/policy.toml && shift 3 && exec "$@"'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", upper, work, file, *paddock.argv(*args)],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return done


def test_flags_and_user_never_exceed_the_admin_tier(paddock):
    needs_root()
    admin = "[limits]\npids = 40\n"
    done = run_with_admin_policy(paddock, admin, "policy", "explain", "--json")
    rows = json.loads(done.stdout)
    assert str(next(r["value"] for r in rows if r["key"] == "limits.pids")) == "40", done
    run = ("run", "-q", "--", "sh", "-c", "echo ran")
    flagged = run_with_admin_policy(paddock, admin, *run[:2], "--pids", "4000", *run[2:])
    user_policy(paddock, "[limits]\npids = 4000\n")
    for refused in (flagged, run_with_admin_policy(paddock, admin, *run)):
        assert refused.returncode == 125 and "ran" not in refused.stdout, refused
        assert "admin" in refused.stderr and "4000" in refused.stderr, refused


def test_an_admin_may_withdraw_the_shipped_acceptance(paddock):
    needs_root()
    done = run_with_admin_policy(
        paddock, '[accept]\ngenerated = "microvm"\n', "run", "-q", "--", "echo", "ran"
    )
    assert done.returncode == 125 and done.stdout == "" and "microvm" in done.stderr, done


def test_init_writes_a_commented_file_that_parses(paddock, repo):
    paddock("init").ok()
    text = (repo / "paddock.toml").read_text()
    assert text.count("#") > 5
    paddock.sh("true").ok()
    again = paddock("init")
    assert again.code != 0 and "paddock.toml" in again.err, "an existing file was overwritten"
    assert (repo / "paddock.toml").read_text() == text


@pytest.mark.parametrize("profile", ["edit", "ci", "untrusted"])
def test_init_writes_each_profile(paddock, repo, profile):
    paddock("init", "--profile", profile).ok()
    assert profile in (repo / "paddock.toml").read_text()
    explained(paddock)
