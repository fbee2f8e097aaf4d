"""Whole directory trees as values: digest, content, and small git repositories."""
import hashlib
import os
import stat
import subprocess
from pathlib import Path

GIT_ENV = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.com",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "HOME": "/nonexistent",
    "PATH": os.environ["PATH"],
    "GIT_ALLOW_PROTOCOL": "file",
}


def git(folder, *args, check=True, stdin=None):
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *map(str, args)],
        cwd=folder,
        env=GIT_ENV,
        capture_output=True,
        input=stdin,
    )
    assert not check or done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode(errors="replace")


def write(root, files):
    """files: relative path -> bytes or text, ("link", target), or None for an empty directory."""
    root = os.fsencode(root)
    for name, content in files.items():
        path = os.path.join(root, os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if content is None:
            os.makedirs(path, exist_ok=True)
        elif isinstance(content, tuple):
            os.symlink(content[1], path)
        else:
            with open(path, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)


def make_repository(folder, files=None):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write(
        folder,
        files
        or {"README.md": "hello\n", "src/main.py": "print('main')\n", "run.sh": "#!/bin/sh\n"},
    )
    if (folder / "run.sh").exists():
        (folder / "run.sh").chmod(0o755)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def entries(root, with_times=False):
    """path -> (type, mode, owner, content) of everything below root; bytes paths."""
    root, found = os.fsencode(root), {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            content = b""
            if stat.S_ISREG(info.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).digest()
            elif stat.S_ISLNK(info.st_mode):
                content = os.readlink(path)
            times = (info.st_mtime_ns, info.st_ino) if with_times else ()
            found[os.path.relpath(path, root)] = (
                info.st_mode,
                info.st_uid,
                info.st_gid,
                content,
                *times,
            )
    return found


def digest(root):
    """One value for a tree: names, types, modes, owners, contents, times and inodes."""
    return hashlib.sha256(repr(sorted(entries(root, with_times=True).items())).encode()).hexdigest()
