"""The workspace: at its own path, copy-on-write, refused where it would be too much, secrets hidden."""
import os
import subprocess

import pytest

from support.host import needs_root
from support.program import Paddock, ended
from support.trees import digest, git, make_repository, write


def test_the_current_directory_is_the_workspace_at_the_same_path(paddock, repo, untouched):
    done = paddock.sh("pwd; cat README.md; ls -A; stat -c %u:%a run.sh").ok()
    assert done.out.startswith(f"{repo}\nhello\n")
    assert ".git" in done.out and ":755\n" in done.out


def test_writes_never_reach_the_host(paddock, untouched):
    paddock.sh(
        "echo changed > README.md; rm -r src; mkdir -p new/dir; echo x > new/dir/file; chmod 600 run.sh; "
        "ln -s README.md link; mv run.sh moved.sh; rm -rf .git"
    ).ok()


def test_rm_rf_of_everything_harms_nothing(paddock, base, untouched):
    before = digest(base / "home" / ".ssh")
    paddock.sh("rm -rf ~ . / 2>/dev/null; rm -rf --no-preserve-root / 2>/dev/null; true")
    assert digest(base / "home" / ".ssh") == before


def test_another_directory_is_named_by_workspace(paddock, base, repo):
    other = make_repository(base / "home" / "other", {"a.txt": "other\n"})
    done = paddock.sh("pwd; cat a.txt", "--workspace", other, cwd=repo).ok()
    assert done.out == f"{other}\nother\n"


@pytest.mark.parametrize(
    "place", ["/", "/usr", "/etc", "/usr/lib", "/tmp", "/var", "/proc", "/home", "/root"]
)
def test_a_system_directory_is_refused_as_workspace(paddock, place):
    if not os.access(place, os.R_OK | os.X_OK):
        pytest.skip("needs root: the directory is not readable")
    done = paddock.sh("true", "--workspace", place).refused()
    assert place in done.err and "try:" in done.err, "the refusal says no remedy"


def test_a_home_itself_is_refused_and_a_directory_below_it_is_named_as_remedy(paddock, base):
    paddock.sh("true", "--workspace", base / "home").refused("home")


def test_a_directory_that_holds_the_state_is_refused(base, repo):
    inside = Paddock(base, repo)
    inside.env["PADDOCK_HOME"] = str(repo / ".state")
    (repo / ".state").mkdir()
    inside.sh("true").refused("PADDOCK_HOME")


def test_a_workspace_with_a_mount_point_below_is_refused(paddock, repo):
    needs_root()
    (repo / "mounted").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", repo / "mounted"], check=True)
    try:
        paddock.sh("true").refused("mount")
    finally:
        subprocess.run(["umount", repo / "mounted"], check=True)


def test_a_workspace_that_is_not_there_is_refused(paddock):
    paddock.sh("true", "--workspace", "/nonexistent/dir", cwd="/usr").refused("/nonexistent/dir")


def test_symlinked_parents_lead_to_the_same_workspace(paddock, base, repo):
    (base / "link").symlink_to(base / "home")
    done = paddock.sh(
        "git status --short; echo new > f; pwd -P",
        "--workspace",
        base / "link" / "project",
        cwd=base / "link" / "project",
    ).ok()
    assert str(repo) in done.out or str(base / "link" / "project") in done.out
    assert paddock("diff", "--name-only").ok().out == "f\n"


def test_the_way_that_the_caller_came_leads_there_inside_too(paddock, base, repo):
    (base / "link").symlink_to(base / "home")
    way = base / "link" / "project"
    script = f"cat {way}/README.md && cat {repo}/README.md"
    text = (repo / "README.md").read_text()
    assert paddock.sh(script, cwd=way, env={"PWD": str(way)}).ok().out == text * 2
    assert paddock.sh(script, "--workspace", way, cwd="/").ok().out == text * 2
    # A PWD of another directory is no way here.
    assert paddock.sh(script, cwd=repo, env={"PWD": str(base)}).code != 0


def test_files_of_others_are_theirs_inside_and_the_decision_says_so(paddock, repo):
    needs_root()
    os.chown(repo / "src", 12345, 12345)
    done = paddock.sh("echo mine > new && echo x > src/new")
    assert done.code != 0 and "Permission denied" in done.err
    assert "not changed" in next(
        c["detail"] for c in done.decision["controls"] if c["name"] == "workspace.owner"
    )


def test_names_with_spaces_commas_and_colons_work(paddock, base):
    odd = make_repository(base / "home" / 'a b,c:d=e\\f"g', {"x y,z": "1\n"})
    done = paddock.sh("cat 'x y,z'; echo 2 > 'x y,z'; git status --short", cwd=odd).ok()
    assert done.out.startswith("1\n") and "x y,z" in done.out
    assert (odd / "x y,z").read_text() == "1\n"


def test_a_workspace_below_tmp_works_although_tmp_is_private(paddock):
    folder = subprocess.run(
        ["mktemp", "-d", "/tmp/paddock-ws-XXXX"], capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        make_repository(f"{folder}/w", {"a": "1\n"})
        done = paddock.sh("cat a; echo 2 > a; ls -A /tmp", cwd=f"{folder}/w").ok()
        assert done.out.startswith("1\n")
        assert done.out.split("\n")[1:-1] == [os.path.basename(folder)]
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)


def test_mode_direct_writes_to_the_host_and_says_so(paddock, repo):
    done = paddock.sh("echo direct > README.md", "--mode", "direct").ok()
    assert (repo / "README.md").read_text() == "direct\n"
    assert "direct" in str(done.decision) and done.view is None


def test_mode_none_shows_no_workspace(paddock, repo, untouched):
    done = paddock.sh(f"ls {repo} 2>&1; pwd", "--mode", "none")
    assert "README" not in done.out and done.view is None


def test_a_mount_grant_shows_just_that(paddock, base, repo):
    write(base, {"given/data.txt": "given\n", "kept/x": "kept\n"})
    done = paddock.sh(
        "cat /data/data.txt; echo w > /data/w; ls /data", "--mount", f"{base}/given:/data"
    ).ok()
    assert done.out.startswith("given\n") and (base / "given" / "w").read_text() == "w\n"
    assert (base / "given" / "w").stat().st_uid == os.geteuid()
    readonly = paddock.sh("echo w > /data/v", "--mount", f"{base}/given:/data:ro")
    assert readonly.code != 0 and not (base / "given" / "v").exists()
    assert any("given" in grant for grant in readonly.decision["grants"])


def test_a_mount_of_nothing_is_refused(paddock):
    paddock.sh("true", "--mount", "/nonexistent:/x").refused("/nonexistent")
    paddock.sh("true", "--mount", "relative:/x").refused()


def test_the_view_shows_what_the_host_edits_meanwhile(paddock, repo):
    process = paddock.start(
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        "echo up; while ! grep -q later README.md; do sleep 0.05; done",
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"up\n"
    (repo / "README.md").write_text("later\n")
    assert ended(process) == 0
    process.stdout.close()


def test_a_private_workspace_of_an_ordinary_user_is_readable(paddock, repo):
    repo.chmod(0o700)
    assert paddock.sh("cat README.md && echo x > new && stat -c %a .").ok().out == "hello\n700\n"


def test_a_workspace_of_another_owner_keeps_its_owner(paddock, repo):
    needs_root()
    subprocess.run(["chown", "-R", "12345:12345", repo], check=True)
    done = paddock.sh(
        "git status --short && echo more >> README.md && rm run.sh && echo n > new && "
        "stat -c %U README.md new | sort -u | wc -l"
    ).ok()
    assert done.out == "1\n"
    paddock("apply").ok()
    assert {(repo / name).stat().st_uid for name in ("README.md", "new")} == {12345}
    assert (
        git(repo, "-c", "safe.directory=*", "status", "--short")
        == " M README.md\n D run.sh\n?? new\n"
    )


def test_state_is_private_to_the_user(paddock):
    paddock.sh("echo x > new").ok()
    assert paddock.state.stat().st_mode & 0o077 == 0
    assert paddock.state.stat().st_uid == os.geteuid()
