"""The change set, and the patch that `git apply` takes on a clean clone."""
import base64
import os
import subprocess

import pytest

from support.trees import entries, git, write


def changes(paddock):
    return {c["path"]: c for c in paddock("diff", "--json").ok().json()["changes"]}


def test_kinds_modes_types_and_counts(paddock, repo):
    write(
        repo,
        {
            "old/name.txt": "same content, long enough to be seen as a rename\n" * 3,
            "gone": "1\n",
            "link": ("link", "gone"),
        },
    )
    paddock.sh(
        "echo more >> README.md; echo n > new; rm gone; mv old/name.txt old/other.txt; chmod 755 src/main.py; "
        "ln -sf new link; printf '\\000' > bin"
    ).ok()
    seen = changes(paddock)
    assert seen["README.md"]["kind"] == "modified" and seen["README.md"]["added_lines"] == 1
    assert (
        seen["new"]["kind"] == "added"
        and seen["new"]["after"]["type"] == "regular"
        and seen["new"]["before"] is None
    )
    assert seen["gone"]["kind"] == "deleted" and seen["gone"]["after"] is None
    assert (
        seen["old/other.txt"]["kind"] == "renamed"
        and seen["old/other.txt"]["from"] == "old/name.txt"
    )
    assert seen["src/main.py"]["kind"] == "modified" and seen["src/main.py"]["after"][
        "mode"
    ].endswith("755")
    assert seen["link"]["after"] == {**seen["link"]["after"], "type": "symlink", "target": "new"}
    assert seen["bin"]["binary"] is True


def test_a_rewrite_to_the_same_content_is_no_change(paddock):
    paddock.sh(
        "cp README.md /tmp/x; cp /tmp/x README.md; sed -i s/zzz/yyy/ src/main.py; chmod 755 run.sh; "
        "mv run.sh t; mv t run.sh; touch src; mkdir d; rmdir d; echo one > marker"
    ).ok()
    assert list(changes(paddock)) == ["marker"]


def test_a_directory_removed_and_made_again_drops_its_old_content(paddock, repo):
    write(repo, {"d/old": "1\n", "d/sub/deep": "2\n"})
    paddock.sh("rm -r d; mkdir d; touch d/new").ok()
    seen = changes(paddock)
    assert {p for p in seen if seen[p]["kind"] == "deleted"} >= {"d/old", "d/sub/deep"} and seen[
        "d/new"
    ]["kind"] == "added"
    paddock("apply").ok()
    assert os.listdir(repo / "d") == ["new"]


def test_directories_replaced_by_files_and_back(paddock, repo):
    write(repo, {"d/x": "1\n", "f": "2\n"})
    paddock.sh("rm -r d; echo file > d; rm f; mkdir f; echo in > f/in").ok()
    paddock("apply").ok()
    assert (repo / "d").read_text() == "file\n" and (repo / "f/in").read_text() == "in\n"


def test_empty_files_and_directories(paddock, repo):
    write(repo, {"full/x": "1\n"})
    paddock.sh(": > empty; mkdir -p e/m/p; rm full/x").ok()
    paddock("apply").ok()
    assert (
        (repo / "empty").read_bytes() == b""
        and (repo / "e/m/p").is_dir()
        and (repo / "full").is_dir()
    )
    assert not (repo / "full/x").exists()


NAMES = [
    b"bad\xff\xfeutf",
    b"new\nline",
    b"tab\there",
    b" lead",
    b"quote\"'\\",
    b"-dash",
    b"\xc3\xa9",
    b"e\xcc\x81",
    b"*?[x]",
]


def test_names_that_are_not_text_survive_everything(paddock, repo):
    script = f"import os\nfor n in {NAMES!r}:\n  open(n, 'wb').write(n)\nos.mkdir(b'd\\xff'); open(b'd\\xff/x\\n', 'w').write('y')"
    paddock.run("python3", "-c", script).ok()
    seen = set()
    for change in paddock("diff", "--json").ok().json()["changes"]:
        seen.add(
            base64.b64decode(change["path_base64"])
            if "path_base64" in change
            else change["path"].encode()
        )
    assert set(NAMES) <= seen
    paddock("diff").ok()
    paddock("apply").ok()
    for name in NAMES:
        assert open(os.fsencode(repo) + b"/" + name, "rb").read() == name


def test_control_characters_of_names_never_reach_the_terminal(paddock):
    paddock.run("python3", "-c", "open('a\\x1b]0;owned\\x07b', 'w').write('x')").ok()
    for args in (
        ("diff",),
        ("diff", "--stat"),
        ("diff", "--name-only"),
        ("apply", "--dry-run"),
        ("ls",),
        ("show",),
    ):
        done = paddock(*args)
        assert "\x1b]" not in done.out + done.err and "\x07" not in done.out + done.err, args


def test_extended_attributes_are_carried(paddock, repo):
    done = paddock.run(
        "python3",
        "-c",
        "import os\nos.setxattr('README.md', 'user.note', b'v'); open('n', 'w').close(); os.setxattr('n', 'user.a', b'b')",
    )
    if done.code != 0 and "supported" in done.err:
        pytest.skip("needs user-xattrs: the file system of the workspace has none")
    paddock("apply").ok()
    assert (
        os.getxattr(repo / "README.md", "user.note") == b"v"
        and os.getxattr(repo / "n", "user.a") == b"b"
    )


def test_hard_links_made_inside_are_carried_as_files(paddock, repo):
    paddock.sh("echo 1 > a; ln a b").ok()
    paddock("apply").ok()
    assert (repo / "a").read_text() == (repo / "b").read_text() == "1\n"


def test_sockets_pipes_and_devices_are_skipped_and_listed(paddock, repo):
    paddock.run(
        "python3",
        "-c",
        "import socket, os\nsocket.socket(socket.AF_UNIX).bind('s'); os.mkfifo('p'); open('f', 'w').close()",
    ).ok()
    document = paddock("diff", "--json").ok().json()
    assert set(document["skipped"]) == {"s", "p"}
    paddock("apply").ok()
    assert (
        (repo / "f").exists()
        and not os.path.lexists(repo / "s")
        and not os.path.lexists(repo / "p")
    )


def test_forms_of_diff(paddock):
    paddock.sh("echo more >> README.md; echo n > new").ok()
    assert paddock("diff", "--name-only").ok().out == "README.md\nnew\n"
    stat = paddock("diff", "--stat").ok().out
    assert "README.md" in stat and "new" in stat
    patch = paddock("diff", "--patch").ok().out
    assert patch.startswith("diff --git") and "+more" in patch
    assert "README.md" in paddock("diff").ok().out


def check_patch(paddock, repo, base):
    patch = paddock("diff", "--patch").ok().out_bytes
    clone = base / "clone"
    git(base, "clone", "-q", repo, clone)
    git(clone, "apply", "--binary", "-", stdin=patch)
    paddock("apply", "--allow-host-exec").ok()
    ours = {
        path: (mode & 0o100, content)
        for path, (mode, _, _, content) in entries(repo).items()
        if not path.startswith(b".git") and not os.path.isdir(os.fsencode(repo) + b"/" + path)
    }
    theirs = {
        path: (mode & 0o100, content)
        for path, (mode, _, _, content) in entries(clone).items()
        if not path.startswith(b".git") and not os.path.isdir(os.fsencode(clone) + b"/" + path)
    }
    assert ours == theirs


def test_the_patch_applies_on_a_clean_clone_and_yields_the_same_bytes(paddock, repo, base):
    write(
        repo,
        {
            "bin": os.urandom(3000),
            "crlf.txt": "a\r\nb\r\n",
            "no-newline": "x",
            "del/a": "1\n",
            "ren.txt": "l\n" * 50,
            "link": ("link", "README.md"),
            "tofile/x": "1\n",
        },
    )
    git(repo, "add", "-A"), git(repo, "commit", "-q", "-m", "more")
    paddock.run(
        "python3",
        "-c",
        """
import os
open('bin', 'r+b').write(b'\\0\\1changed'); open('newbin', 'wb').write(os.urandom(2000)); open('crlf.txt', 'ab').write(b'c\\r\\n')
open('no-newline', 'a').write('y'); os.remove('del/a'); os.rename('ren.txt', 'renamed.txt'); os.chmod('src/main.py', 0o755)
os.remove('link'); os.symlink('run.sh', 'link'); os.symlink('/nowhere', 'link2'); open('empty', 'w').close()
open('sp ace', 'w').write('s\\n'); open(b'bad\\xff', 'w').write('b\\n'); open('tab\\t', 'w').write('t\\n'); open('new\\nline', 'w').write('n\\n')
os.remove('tofile/x'); os.rmdir('tofile'); open('tofile', 'w').write('now a file\\n'); open('README.md', 'a').write('more\\n')
""",
    ).ok()
    check_patch(paddock, repo, base)


def test_the_patch_is_made_without_the_repositorys_config(paddock, repo, base):
    marker = base / "marker"
    git(repo, "config", "diff.external", f"touch {marker}")
    git(repo, "config", "core.fsmonitor", f"touch {marker}; false")
    git(repo, "config", "diff.evil.textconv", f"touch {marker}; cat")
    write(repo, {".gitattributes": "* diff=evil\n"})
    paddock.sh("echo more >> README.md").ok()
    assert "+more" in paddock("diff", "--patch").ok().out
    paddock("diff").ok(), paddock("apply").ok()
    assert not marker.exists()
    subprocess.run(
        ["git", "diff"], cwd=repo, capture_output=True, env={**os.environ, "HOME": str(base)}
    )
    assert marker.exists(), "the twin: plain git does run it"


def test_the_patch_of_chosen_paths(paddock):
    paddock.sh("echo more >> README.md; echo n > new").ok()
    assert "README" not in paddock("diff", "--patch", "--", "new").ok().out


def test_a_dirty_base_gives_only_the_agents_delta(paddock, repo):
    (repo / "README.md").write_text("dirty on the host\n")
    write(repo, {"untracked": "u\n"})
    paddock.sh("echo more >> README.md").ok()
    patch = paddock("diff", "--patch").ok().out
    assert "+more" in patch and "+dirty" not in patch and "untracked" not in patch


def test_a_large_file_is_no_obstacle(paddock, repo):
    with open(repo / "large", "wb") as file:
        file.truncate(700 << 20)
    paddock.sh("echo x > small; echo tail >> large").ok()
    assert paddock("diff", "--name-only").ok().out == "large\nsmall\n"
    paddock("apply").ok()
    assert (repo / "large").stat().st_size == (700 << 20) + 5


def test_a_sparse_bomb_in_the_view_stays_sparse(paddock, repo):
    paddock.sh("truncate -s 1T sparse; echo x > small").ok()
    paddock("diff", "--stat").ok()
    done = paddock("apply", "--", "small")
    assert done.code == 0 and (repo / "small").exists() and not (repo / "sparse").exists()
