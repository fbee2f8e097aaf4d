"""What sandboxes are made from: directories of the host, and templates that clients build."""
import hashlib
import os
import shutil
import stat

import pytest
from support.daemon import Daemon
from support.operate import write_settings


@pytest.fixture
def daemon(paddock):
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


def busybox():
    return next(path for path in ("/bin/busybox", "/usr/bin/busybox") if os.path.exists(path))


@pytest.fixture
def root(base):
    """A root file system: busybox and a marker."""
    folder = base / "root"
    for name in ("bin", "etc", "usr"):
        (folder / name).mkdir(parents=True)
    shutil.copy(busybox(), folder / "bin" / "busybox")
    for name in ("sh", "cat", "ls", "id", "rm", "mkdir", "touch"):
        (folder / "bin" / name).symlink_to("busybox")
    (folder / "etc" / "marker").write_text("of the template\n")
    (folder / "etc" / "passwd").write_text(
        "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n"
    )
    return folder


def digest(folder):
    """Every entry below, with what it is and holds."""
    seen = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        st = path.lstat()
        seen.update(repr((str(path), st.st_mode, st.st_uid, st.st_mtime_ns)).encode())
        if stat.S_ISREG(st.st_mode):
            seen.update(path.read_bytes())
    return seen.hexdigest()


# ---- directories


def test_sandboxes_stand_on_a_directory_and_never_write_to_it(daemon, paddock, root):
    before = digest(root)
    assert paddock("template", "add", "box", "root", cwd=root.parent).ok().out == "box\n"
    made = [paddock("create", "--template", "box").ok().out.strip() for _ in range(2)]
    script = "cat /etc/marker /etc/machine-id; echo mine > /etc/new || echo > ~/new"
    outs = [paddock("exec", id, "--", "/bin/sh", "-c", script).ok().out.split("\n") for id in made]
    assert [out[0] for out in outs] == ["of the template"] * 2
    assert outs[0][1] != outs[1][1]
    if os.geteuid() == 0:
        sudo = ("exec", made[0], "--", "/usr/bin/sudo", "rm", "/etc/marker")
        paddock(*sudo).ok()
        assert paddock("exec", made[0], "--", "/bin/cat", "/etc/marker").code == 1
    again = paddock("exec", made[1], "--", "/bin/cat", "/etc/marker").ok()
    assert again.out == "of the template\n"
    assert digest(root) == before
    # Its files are kept as those of any other template.
    paddock("exec", made[1], "--", "/bin/sh", "-c", "echo kept > ~/kept").ok()
    snapshot = paddock("snapshot", made[1]).ok().out.strip()
    paddock("restart", made[1]).ok()
    third = paddock("create", "--template", snapshot).ok().out.strip()
    for id in (made[1], third):
        assert paddock("exec", id, "--", "/bin/sh", "-c", "cat ~/kept").ok().out == "kept\n"
    # And to E2B's clients it has a name like every other.
    sandbox = daemon.create(templateID="box")
    assert daemon.start(sandbox, "cat /etc/marker") == (b"of the template\n", 0)
    assert digest(root) == before


def test_a_directory_outlives_the_daemon_and_is_read_again(daemons, paddock, root):
    daemon = daemons()
    paddock("template", "add", "box", root).ok()
    sandbox = daemon.create(templateID="box", timeout=600)
    daemon.kill()
    daemon = daemons()
    assert daemon.start(sandbox, "cat /etc/marker") == (b"of the template\n", 0)
    paddock("restart", sandbox["sandboxID"]).ok()
    assert daemon.start(sandbox, "cat /etc/marker") == (b"of the template\n", 0)


def test_a_directory_is_listed_and_removed_once_nothing_stands_on_it(daemon, paddock, root):
    paddock("template", "add", "box", root).ok()
    rows = {row["id"]: row for row in paddock("template", "ls", "--json").ok().json()["templates"]}
    assert rows["box"]["kind"] == "directory" and rows["box"]["directory"] == str(root)
    assert str(root) in paddock("template", "ls").ok().out
    again = paddock("template", "add", "box", root)
    assert again.code == 1 and "template rm box" in again.err
    id = paddock("create", "--template", "box").ok().out.strip()
    refused = paddock("template", "rm", "box")
    assert refused.code == 1 and f"paddock kill {id}" in refused.err
    snapshot = paddock("snapshot", id).ok().out.strip()
    paddock("kill", id).ok()
    refused = paddock("template", "rm", "box")
    assert refused.code == 1 and snapshot in refused.err
    paddock("template", "rm", snapshot, "box").ok()
    gone = paddock("create", "--template", "box")
    assert gone.code == 1 and "template 'box' not found" in gone.err


def test_what_is_no_root_is_refused_with_the_remedy(daemon, paddock, root, base):
    def refused(name, directory, *words):
        done = paddock("template", "add", name, directory)
        assert done.code in (1, 2), done
        for word in words:
            assert word in done.err, done.err

    refused("box", base / "none", "none")
    refused("base", root, "built-in")
    refused("a b", root, "letters")
    refused("box", paddock.state, "PADDOCK_HOME")
    refused("box", "/", "PADDOCK_HOME")
    root.chmod(0o777)
    refused("box", root, "chmod go-w")
    root.chmod(0o755)
    (root / "bin" / "sh").unlink()
    refused("box", root, "/bin/sh", "root file system")
    (root / "bin" / "sh").symlink_to("busybox")
    paddock("template", "add", "box", root).ok()
    # What it was when it was added does not count later.
    root.chmod(0o777)
    made = paddock("create", "--template", "box")
    assert made.code == 1 and "chmod go-w" in made.err


def test_a_directory_that_the_pool_keeps_ready_is_not_removed(paddock, root):
    write_settings(paddock, "[pool]\nbox = 1\n")
    daemon = Daemon(paddock)
    paddock("template", "add", "box", root).ok()
    removed = paddock("template", "rm", "box")
    assert removed.code == 1 and "[pool] in server.toml" in removed.err
    assert daemon.stop() == 0, daemon.log.read_text()


def test_nobody_on_the_network_names_a_directory_of_the_host(daemon, paddock, root):
    wanted = {"name": "box", "directory": str(root)}
    status, body, _ = daemon.request("POST", "/paddock/v1/templates", wanted)
    assert (status, body["error"]["code"]) == (403, "permission_denied")
    assert "socket" in body["error"]["message"]
    paddock("template", "add", "box", root).ok()
    listed = daemon.request("GET", "/paddock/v1/templates")[1]["templates"]
    box = next(row for row in listed if row["id"] == "box")
    assert "directory" not in box
    assert daemon.request("DELETE", "/paddock/v1/templates/box")[0] == 403
    assert daemon.request("DELETE", "/templates/box")[0] == 404
    daemon.create(templateID="box")
