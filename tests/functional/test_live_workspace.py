"""Live sandboxes that work on a directory of the host, through a view."""
import http.client
import json
import os
import socket
import time

import pytest
from support.daemon import Daemon
from support.host import needs_root
from support.program import PATIENCE
from support.trees import digest, git, write


@pytest.fixture
def daemons(paddock):
    """Makes daemons, one at a time. At the end all sandboxes are killed and the last daemon stopped."""
    made = []

    def start(**options):
        made.append(Daemon(paddock, leased=True, **options))
        return made[-1]

    yield start
    last = made[-1] if made and made[-1].process.poll() is None else start()
    for sandbox in paddock("ps", "--json").ok().json()["sandboxes"]:
        paddock("kill", sandbox["id"]).ok()
    assert last.stop() == 0, last.log.read_text()


@pytest.fixture
def daemon(daemons):
    return daemons()


@pytest.fixture
def make(paddock, repo):
    """Makes a sandbox over the workspace; returns its id."""
    return lambda *options: paddock("create", "--workspace", repo, *options).ok().out.strip()


@pytest.fixture
def sh(paddock):
    """Runs a script in a sandbox, in its workspace."""
    return lambda id, script, *options: paddock("exec", *options, id, "--", "sh", "-c", script)


def inspect(paddock, id):
    return paddock("inspect", id).ok().json()


def view_of(paddock, id):
    return inspect(paddock, id)["view"]


def state_of(paddock, view):
    return {v["id"]: v["state"] for v in json.loads(paddock("ls", "--all", "--json").ok().out)}.get(view)


def by_socket(paddock, method, path, body=None):
    connection = http.client.HTTPConnection("localhost", timeout=PATIENCE)
    connection.sock = socket.socket(socket.AF_UNIX)
    folder = os.open(paddock.state / "run", os.O_PATH)
    connection.sock.connect(f"/proc/self/fd/{folder}/paddock.sock")
    os.close(folder)
    connection.request(method, path, None if body is None else json.dumps(body))
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, json.loads(data) if data else None


# ---- what it sees and writes


def test_it_works_on_the_directory_at_its_own_path_and_the_host_sees_nothing(paddock, repo, daemon, make, sh, untouched):
    id = make()
    done = sh(id, "pwd; cat README.md; echo more >> README.md; echo n > new; rm run.sh; stat -c %U src/main.py; id -un").ok()
    assert done.out == f"{repo}\nhello\nuser\nuser\n"
    assert sh(id, "cat README.md new; ls").out == "hello\nmore\nn\nREADME.md\nnew\nsrc\n"
    shown = inspect(paddock, id)
    assert shown["workspace"] == str(repo) and state_of(paddock, shown["view"]) == "running"


def test_its_end_leaves_the_view_as_a_run_does(paddock, repo, daemon, make, sh):
    id = make()
    sh(id, "echo more >> README.md; echo n > new; chmod 755 src/main.py").ok()
    view = view_of(paddock, id)
    paddock("kill", id).ok()
    shown = paddock("show", "--json", view).ok().json()
    assert shown["state"] == "ready"
    [step] = shown["steps"]
    assert step["outcome"]["ending"] == "killed" and step["outcome"]["reason"] == "it was killed"
    assert {c["name"] for c in step["decision"]["controls"]} >= {"files.hide", "workspace.owner"} or os.geteuid() != 0
    names = paddock("diff", "--name-only", view).ok().out.split()
    assert sorted(names) == ["README.md", "new", "src/main.py"]
    paddock("apply", view).ok()
    assert git(repo, "status", "--short") == " M README.md\n M src/main.py\n?? new\n"
    owner = os.stat(repo)
    assert (os.stat(repo / "new").st_uid, os.stat(repo / "new").st_gid) == (owner.st_uid, owner.st_gid)


def test_a_view_that_nothing_was_written_to_is_not_kept(paddock, daemon, make, sh):
    id = make()
    sh(id, "cat README.md").ok()
    paddock("kill", id).ok()
    assert paddock.views() == []


def test_its_deadline_seals_the_step(paddock, daemon, make, sh):
    id = make("--timeout", "4")
    sh(id, "echo n > new").ok()
    view = view_of(paddock, id)
    end = time.monotonic() + PATIENCE
    while state_of(paddock, view) != "ready" and time.monotonic() < end:
        time.sleep(0.2)
    [step] = paddock("show", "--json", view).ok().json()["steps"]
    assert step["outcome"]["ending"] == "timed_out"
    assert paddock("diff", "--name-only", view).ok().out == "new\n"


def test_secrets_are_hidden_and_the_workspaces_own_policy_counts(paddock, repo, daemon, make, sh):
    write(repo, {".env": "TOKEN=1\n", "private/note": "x\n", "paddock.toml": '[files]\nhide = ["private"]\n'})
    id = make()
    assert sh(id, "ls -A; cat .env private/note 2>/dev/null").out.split() == [".git", "README.md", "paddock.toml", "run.sh", "src"]
    assert any("private" in path for path in inspect(paddock, id)["decision"]["hidden"])


def test_commits_are_brought_as_a_branch_and_git_of_the_host_is_safe(paddock, repo, daemon, make, sh):
    id = make()
    sh(id, "git config core.fsmonitor /bin/evil; echo n > new; git add new; "
           "git -c user.name=A -c user.email=a@b commit -qm inside").ok()
    view = view_of(paddock, id)
    paddock("kill", id).ok()
    paddock("apply", "--branch", "inside", view).ok()
    assert git(repo, "log", "--format=%s", "inside").split() == ["inside", "first"]
    assert "evil" not in git(repo, "config", "--list")


def test_others_files_stay_others(paddock, repo, daemon, make, sh):
    needs_root()
    write(repo, {"roots": "r\n", "daemons": "d\n"})
    os.chown(repo / "daemons", 1, 1)
    for path in ("README.md", "src", "src/main.py", "."):
        os.chown(repo / path, 33, 33)
    (repo / "daemons").chmod(0o600)
    (repo / "roots").chmod(0o600)
    id = make()
    done = sh(id, "cat daemons || echo no; cat roots || echo no; sudo cat roots || echo none; echo x >> README.md && stat -c %U README.md")
    assert done.out == "no\nno\nnone\nuser\n", done
    view = view_of(paddock, id)
    upper = next((paddock.state / "views" / view / "t0").glob("*/fs"))
    assert os.stat(upper / "README.md").st_uid == 33
    paddock("kill", id).ok()
    paddock("apply", view).ok()
    assert (repo / "README.md").read_text() == "hello\nx\n" and os.stat(repo / "README.md").st_uid == 33


# ---- who may


def test_no_request_of_the_network_names_a_host_path(paddock, repo, daemon, make):
    status, answer, _ = daemon.request("POST", "/paddock/v1/sandboxes", {"workspace": str(repo)})
    assert (status, answer["error"]["code"]) == (403, "permission_denied")
    assert "paddock" in answer["error"]["remedy"]
    # The twin: the same request by the owner's socket.
    status, made = by_socket(paddock, "POST", "/paddock/v1/sandboxes", {"workspace": str(repo)})
    assert (status, made["workspace"]) == (201, str(repo))
    # E2B's wire knows no such field, by whichever way it comes.
    made = daemon.create(workspace=str(repo))
    assert "workspace" not in inspect(paddock, made["sandboxID"])


def test_who_comes_over_the_network_does_not_see_it(paddock, daemon, make):
    plain, id = paddock("create").ok().out.strip(), make()
    for path in ("/v2/sandboxes", "/sandboxes"):
        assert [s["sandboxID"] for s in daemon.request("GET", path)[1]] == [plain]
    assert [s["id"] for s in daemon.request("GET", "/paddock/v1/sandboxes")[1]["sandboxes"]] == [plain]
    for method, path in (
        ("GET", f"/sandboxes/{id}"),
        ("POST", f"/v2/sandboxes/{id}/connect"),
        ("DELETE", f"/sandboxes/{id}"),
        ("GET", f"/paddock/v1/sandboxes/{id}"),
        ("POST", f"/paddock/v1/sandboxes/{id}/exec"),
    ):
        assert daemon.request(method, path, {})[0] == 404, path
    events = daemon.request("GET", "/paddock/v1/events")[1]["events"]
    assert id not in json.dumps(events)


@pytest.mark.parametrize("where", ["relative", "/", "/usr", "home", "state", "nowhere", "file"])
def test_what_no_view_is_made_of_is_refused_and_leaves_nothing(paddock, repo, daemon, where):
    path = {"relative": "project", "home": paddock.home, "state": paddock.state, "nowhere": repo / "no",
            "file": repo / "README.md"}.get(where, where)
    status, answer = by_socket(paddock, "POST", "/paddock/v1/sandboxes", {"workspace": str(path)})
    assert status in (400, 403, 404, 409), answer
    assert answer["error"]["message"]
    assert paddock.views() == [] and paddock("ps", "--json").ok().json()["sandboxes"] == []


def test_what_a_view_is_no_part_of_is_refused_with_the_reason(paddock, daemon, make, sh):
    id = make()
    snapshot = paddock("snapshot", paddock("create").ok().out.strip()).ok().out.strip()
    for words in (("snapshot", id), ("fork", id), ("rollback", id, snapshot)):
        done = paddock(*words)
        assert done.code == 1 and "workspace" in done.err and "paddock apply" in done.err, done
    assert sh(id, "cat README.md").ok().out == "hello\n"


# ---- its view by other verbs


def test_the_verbs_of_views_take_a_sandbox(paddock, repo, daemon, make, sh):
    id = make()
    sh(id, "echo one > one").ok()
    assert paddock("diff", "--name-only", id[:6]).ok().out == "one\n"
    assert "+one" in paddock("diff", id).ok().out
    paddock("pause", "--files-only", id).ok()
    paddock("resume", id).ok()
    sh(id, "echo two > two; git add two; git -c user.name=A -c user.email=a@b commit -qm two").ok()
    paddock("kill", id).ok()
    # Gone, it is still a name of its view.
    paddock("apply", "--branch", "two", id).ok()
    assert "two" in git(repo, "branch", "--list")
    paddock("rollback", id, "1").ok()
    assert paddock("diff", "--name-only", id).ok().out == "one\n"
    paddock("apply", id).ok()
    assert (repo / "one").read_text() == "one\n" and not (repo / "two").exists()
    other = make()
    sh(other, "echo x > x").ok()
    paddock("kill", other).ok()
    paddock("discard", other).ok()
    assert paddock.views() == []
    unchanged = make()
    paddock("kill", unchanged).ok()
    assert "changed nothing" in paddock("diff", unchanged).err


def test_a_view_that_is_in_use_is_told_and_not_changed(paddock, repo, daemon, make, sh, untouched):
    id = make()
    sh(id, "echo one > one").ok()
    view = view_of(paddock, id)
    for frozen in (False, True):
        if frozen:
            paddock("pause", id).ok()
        for words in (("apply", id), ("apply", view), ("apply", "--branch", "b", id), ("discard", id), ("rollback", id, "1")):
            done = paddock(*words)
            assert done.code == 1 and f"pause --files-only {id}" in done.err and id in done.err, done
        assert paddock("diff", "--name-only", id).ok().out == "one\n"


def test_views_over_the_socket(paddock, repo, daemon, make, sh):
    ask = lambda method, path="", body=None: by_socket(paddock, method, "/paddock/v1/views" + path, body)
    id = make()
    sh(id, "mkdir .github; echo ci > .github/x; echo one > one; echo two > two").ok()
    view = view_of(paddock, id)
    assert [(v["id"], v["state"]) for v in ask("GET")[1]["views"]] == [(view, "running")]
    assert {c["path"] for c in ask("GET", f"/{id}/changes")[1]["changes"]} >= {"one", "two"}
    status, refused = ask("POST", f"/{id}/apply", {})
    assert (status, refused["error"]["code"]) == (409, "failed_precondition")
    assert "pause --files-only" in refused["error"]["remedy"]
    paddock("kill", id).ok()
    status, shown = ask("GET", f"/{view[:8]}")
    assert (status, shown["state"], len(shown["steps"])) == (200, "ready", 1)
    status, would = ask("POST", f"/{id}/apply", {"dry_run": True})
    assert status == 200 and {p["path"]: p["result"] for p in would["paths"]}["one"] == "applied"
    assert not (repo / "one").exists()
    assert ask("POST", f"/{id}/apply", {"paths": ["one"]})[0] == 200
    assert (repo / "one").exists() and not (repo / "two").exists()
    for bad in ({"paths": ["/etc"]}, {"paths": "one"}, {"branch": "b", "dry_run": True}, {"what": 1}):
        assert ask("POST", f"/{id}/apply", bad)[0] == 400, bad
    assert ask("POST", f"/{id}/rollback", {"commands": 0})[0] == 400
    assert ask("POST", f"/{id}/rollback", {"commands": 1})[0] == 200
    assert ask("DELETE", f"/{view}")[0] == 204 and state_of(paddock, view) == "discarded"
    assert ask("GET", "/nowhere1")[0] == 404


def test_views_are_for_the_socket_alone(paddock, daemon):
    paddock.sh("echo n > new").ok()
    [view] = [v["id"] for v in paddock.views()]
    for method, path in (("GET", ""), ("GET", f"/{view}"), ("DELETE", f"/{view}"), ("GET", f"/{view}/changes"),
                         ("GET", f"/{view}/patch"), ("POST", f"/{view}/apply"), ("POST", f"/{view}/rollback")):
        status, answer, _ = daemon.request(method, "/paddock/v1/views" + path, {})
        assert (status, answer["error"]["code"]) == (403, "permission_denied"), path
    assert [v["id"] for v in paddock.views()] == [view]


# ---- while it stands still


def test_a_pause_keeps_it(paddock, repo, daemon, make, sh):
    id = make()
    sh(id, "echo one > one").ok()
    view = view_of(paddock, id)
    paddock("pause", id).ok()
    assert state_of(paddock, view) == "running" and paddock("diff", "--name-only", view).ok().out == "one\n"
    paddock("resume", id).ok()
    assert sh(id, "cat one").ok().out == "one\n" and view_of(paddock, id) == view


@pytest.mark.parametrize("how", ["restart", "files-only"])
def test_another_start_goes_on_in_it(paddock, repo, daemon, make, sh, how):
    id = make()
    sh(id, "echo one > one; echo kept > ~/kept").ok()
    view = view_of(paddock, id)
    if how == "restart":
        paddock("restart", id).ok()
    else:
        paddock("pause", "--files-only", id).ok()
        assert state_of(paddock, view) == "ready"
        paddock("resume", id).ok()
    assert sh(id, "cat one ~/kept; echo two > two").ok().out == "one\nkept\n" and view_of(paddock, id) == view
    paddock("kill", id).ok()
    assert len(paddock("show", "--json", view).ok().json()["steps"]) == 2
    assert sorted(paddock("diff", "--name-only", view).ok().out.split()) == ["one", "two"]


def test_what_was_applied_at_rest_is_below_another_view(paddock, repo, daemon, make, sh):
    id = make()
    sh(id, "echo one > one").ok()
    first = view_of(paddock, id)
    paddock("pause", "--files-only", id).ok()
    paddock("apply", first).ok()
    paddock("resume", id).ok()
    assert sh(id, "cat one; echo two > two").ok().out == "one\n"
    second = view_of(paddock, id)
    assert second != first and state_of(paddock, first) == "applied"
    assert paddock("diff", "--name-only", second).ok().out == "two\n"


# ---- without its daemon


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_the_next_daemon_takes_it_over_with_its_view(paddock, repo, daemons, make, sh, how):
    first = daemons()
    id = make()
    sh(id, "echo one > one").ok()
    view = view_of(paddock, id)
    getattr(first, how)()
    # It lives, and so nobody else writes to its view or reads it as if it stood still.
    assert state_of(paddock, view) == "running"
    assert "running" in paddock("apply", view).err or paddock("apply", view).code == 1
    daemons()
    assert view_of(paddock, id) == view and inspect(paddock, id)["workspace"] == str(repo)
    assert sh(id, "cat one; echo two > two").ok().out == "one\n"
    paddock("kill", id).ok()
    [step] = paddock("show", "--json", view).ok().json()["steps"]
    assert step["outcome"]["reason"] == "it was killed"
    assert sorted(paddock("diff", "--name-only", view).ok().out.split()) == ["one", "two"]
    assert json.loads(paddock("ps", "--json").out)["sandboxes"] == []


def test_one_that_is_asleep_goes_on_in_its_view_under_the_next_daemon(paddock, daemons, make, sh):
    first = daemons()
    id = make()
    sh(id, "echo one > one").ok()
    view = view_of(paddock, id)
    paddock("pause", "--files-only", id).ok()
    first.kill()
    daemons()
    paddock("resume", id).ok()
    assert sh(id, "cat one").ok().out == "one\n" and view_of(paddock, id) == view


def test_over_the_network_it_stays_unseen_under_the_next_daemon(paddock, daemons, make):
    first = daemons()
    id = make()
    first.kill()
    second = daemons()
    assert second.request("GET", "/v2/sandboxes")[1] == []
    assert second.request("GET", f"/paddock/v1/sandboxes/{id}")[0] == 404


def test_time_that_is_up_without_a_daemon_leaves_the_view_ready(paddock, daemons, make, sh):
    first = daemons()
    id = make("--timeout", "3")
    sh(id, "echo one > one").ok()
    view = view_of(paddock, id)
    first.kill()
    time.sleep(14)  # an agent ends its sandbox ten seconds behind its deadline
    assert state_of(paddock, view) == "interrupted"
    daemons()
    [step] = paddock("show", "--json", view).ok().json()["steps"]
    assert state_of(paddock, view) == "ready" and "time was up" in step["outcome"]["reason"]
    assert paddock("diff", "--name-only", view).ok().out == "one\n"


CREATE = ["live.create.journalled", "live.create.started", "live.create.recorded", "live.view.begun", "live.create.leased"]


@pytest.mark.parametrize("point", CREATE)
def test_a_kill_while_it_is_made_leaves_it_whole_or_no_view(paddock, repo, daemons, sh, point):
    first = daemons(env={"PADDOCK_DIE_AT": point})
    assert paddock("create", "--workspace", repo).code == 1
    assert first.process.wait(PATIENCE) == -9, "the point was reached"
    daemons()
    listed = paddock("ps", "--json").ok().json()["sandboxes"]
    if listed:
        assert sh(listed[0]["id"], "cat README.md").ok().out == "hello\n"
        paddock("kill", listed[0]["id"]).ok()
    assert paddock.views() == []


@pytest.mark.parametrize("point", ["live.sleep.noted", "live.sleep.ended", "live.view.begun", "live.create.leased"])
def test_a_kill_on_the_way_to_another_start_loses_nothing(paddock, daemons, make, sh, point):
    setting_up = daemons()
    id = make()
    sh(id, "echo one > one").ok()
    setting_up.stop()
    first = daemons(env={"PADDOCK_DIE_AT": point})
    assert paddock("restart", id).code == 1
    assert first.process.wait(PATIENCE) == -9, "the point was reached"
    daemons()
    if inspect(paddock, id)["state"] == "paused":
        paddock("resume", id).ok()
    assert sh(id, "cat one; echo two > two").ok().out == "one\n"
    view = view_of(paddock, id)
    paddock("kill", id).ok()
    assert sorted(paddock("diff", "--name-only", view).ok().out.split()) == ["one", "two"]
    assert len(paddock.views()) == 1


@pytest.mark.parametrize("point", ["live.delete.destroyed", "live.delete.forgotten", "view.finish.row"])
def test_a_kill_on_the_way_to_its_end_loses_nothing(paddock, daemons, make, sh, point):
    first = daemons(env={"PADDOCK_DIE_AT": point})
    id = make()
    sh(id, "echo one > one").ok()
    view = view_of(paddock, id)
    assert paddock("kill", id).code == 1
    assert first.process.wait(PATIENCE) == -9, "the point was reached"
    daemons()
    assert paddock("ps", "--json").ok().json()["sandboxes"] == []
    assert paddock("diff", "--name-only", view).ok().out == "one\n" and state_of(paddock, view) == "ready"


def test_it_ends_with_a_daemon_that_takes_everything_along(paddock, make, sh):
    daemon = Daemon(paddock)
    id = make()
    sh(id, "echo one > one").ok()
    view = view_of(paddock, id)
    assert daemon.stop() == 0
    assert state_of(paddock, view) == "ready" and paddock("diff", "--name-only", view).ok().out == "one\n"


def test_what_it_writes_there_counts_against_its_disk(paddock, repo, make, sh):
    daemon = Daemon(paddock, "--disk", "64M")
    id = make()
    view = view_of(paddock, id)
    sh(id, "for i in 1 2 3; do head -c 30M /dev/zero > big$i; done")
    end = time.monotonic() + PATIENCE
    while state_of(paddock, view) != "ready" and time.monotonic() < end:
        time.sleep(0.2)
    [step] = paddock("show", "--json", view).ok().json()["steps"]
    reason = step["outcome"]["reason"]
    assert "limit is 64" in reason
    assert daemon.stop() == 0
    paddock("discard", view).ok()
