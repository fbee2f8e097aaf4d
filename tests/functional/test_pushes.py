"""A push that is to be reviewed is refused to the program and held; people release it or drop it."""
import hashlib
import json
import stat
import struct
import subprocess
import zlib

import pytest

from support import internet
from support.rules import TOKEN, credential, rule
from support.trees import git

NAME = ("-c", "user.name=a", "-c", "user.email=a@b")
COMMIT = "git -c user.name=a -c user.email=a@b commit -q"


def repository(internet, name="acme/app.git"):
    """A bare repository of the internet's git server, with one commit on main."""
    origin = internet.folder / "git" / name
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", origin], check=True)
    git(origin, "config", "http.receivepack", "true")
    seed = internet.folder / "seed"
    subprocess.run(["git", "clone", "-q", origin, seed], check=True, capture_output=True)
    (seed / "file").write_text("one\n" * 200)
    git(seed, "add", "file")
    git(seed, *NAME, "commit", "-q", "-m", "first")
    git(seed, "push", "-q", "origin", "HEAD:main")
    return origin


def tip(origin, ref="refs/heads/main"):
    return git(origin, "for-each-ref", "--format=%(objectname)", ref).strip()


class Https:
    @staticmethod
    def clone(internet):
        return "https://git.example/git/acme/app.git"

    @staticmethod
    def policy(paddock, **keys):
        (paddock.internet.folder / "git" / "token").write_text(TOKEN)
        keys = {"repositories": ["git/acme/*"], "push": ["agent/*"], "hold": ["*"], **keys}
        paddock.policy(rule(hosts=["git.example"], protocol="git", **keys)
                       + credential(hosts=["git.example"], kind="git"))
        return {"TOKEN": TOKEN}


class Ssh:
    @staticmethod
    def clone(internet):
        return f"ssh://anybody@git.example{internet.folder}/git/acme/app.git"

    @staticmethod
    def policy(paddock, **keys):
        if not hasattr(paddock, "ssh"):
            paddock.ssh = internet.Ssh(paddock.internet, "git.example")
            (paddock.home / ".ssh" / "known_hosts").write_text(paddock.ssh.known)
        keys = {"repositories": ["**/acme/*"], "push": ["agent/*"], "hold": ["*"], **keys}
        paddock.policy(rule(hosts=["git.example"], protocol="git", **keys) + ssh_credential(paddock))
        return {}


def ssh_credential(paddock):
    return ("[[credential]]\n" + f'name = "key"\nkind = "ssh"\nfrom = "file:{paddock.ssh.key}"\n'
            + f'user = "{paddock.ssh.user}"\nhosts = ["git.example"]\n')


@pytest.fixture(params=[Https, Ssh])
def way(request):
    return request.param


def push_to_main(paddock, way, env, message="second"):
    """Clones inside, changes the file a little (so that the pack is thin) and pushes to main."""
    script = f"""
git clone -q {way.clone(paddock.internet)} work 2>&1 && cd work || exit 9
echo {message} >> file; git add file; {COMMIT} -m {message}
git push origin HEAD:refs/heads/main 2>&1; echo "push ended with $?"
git rev-parse HEAD
"""
    return paddock.sh(script, env=env).ok()


def held(paddock):
    return paddock("pushes", "--json").ok().json()


def test_a_push_is_held_shown_and_released_once(online, way):
    paddock = online(["git.example"])
    origin = repository(paddock.internet)
    env = way.policy(paddock)
    before = tip(origin)
    done = push_to_main(paddock, way, env)
    assert "reviewed first: held as" in done.out and "push ended with 1" in done.out, done
    assert "[remote rejected]" in done.out, "git itself says that the ref was refused"
    assert tip(origin) == before, "nothing has arrived"
    assert TOKEN not in done.out + json.dumps(done.report)

    (push,) = held(paddock)
    new = done.out.split()[-1]
    assert push["changes"] == [{"ref": "refs/heads/main", "old": before, "new": new}]
    assert push["state"] == "held" and push["repository"].endswith("acme/app")
    (denial,) = done.denied("network", "git.example")
    assert denial["remedy"] == f"paddock pushes release {push['id']}"
    folder = paddock.state / "pushes" / push["id"]
    assert {stat.S_IMODE(f.stat().st_mode) for f in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    # The pack is thin: only a clone can lend what it builds on.
    assert "within a clone" in paddock("pushes", "show", push["id"]).ok().err
    shown = paddock("pushes", "show", push["id"][:6], "--patch", cwd=paddock.internet.folder / "seed").ok()
    assert "1 commit" in shown.out and "second" in shown.out and "+second" in shown.out, shown

    released = paddock("pushes", "release", push["id"], env=env)
    assert released.code == 0 and "pushed to" in released.err, released
    assert tip(origin) == new
    again = paddock("pushes", "release", push["id"], env=env)
    assert again.code == 1 and "already" in again.err
    (after,) = held(paddock)
    assert after["state"] == "released"
    (release,) = after["releases"]
    assert release["end"] == "sent" and release["reason"] == "" and release["uid"] == folder.stat().st_uid
    assert release["time_ms"] >= push["held_ms"]
    assert "release " in paddock("pushes", "show", push["id"]).ok().out
    assert not (folder / "request").exists()
    assert TOKEN not in released.out + released.err


def test_a_dropped_push_is_gone(online, way):
    paddock = online(["git.example"])
    origin = repository(paddock.internet)
    env = way.policy(paddock)
    before = tip(origin)
    push_to_main(paddock, way, env)
    (push,) = held(paddock)
    paddock("pushes", "drop", push["id"]).ok()
    assert held(paddock) == []
    assert paddock("pushes", "release", push["id"], env=env).code == 1
    assert tip(origin) == before


def test_a_host_that_moved_on_gets_nothing(online, way):
    paddock = online(["git.example"])
    origin = repository(paddock.internet)
    env = way.policy(paddock)
    push_to_main(paddock, way, env)
    (push,) = held(paddock)
    seed = paddock.internet.folder / "seed"
    git(seed, *NAME, "commit", "-q", "--allow-empty", "-m", "elsewhere")
    git(seed, "push", "-q", "origin", "HEAD:main")
    moved = tip(origin)
    released = paddock("pushes", "release", push["id"], env=env)
    assert released.code == 1 and "moved on" in released.err, released
    assert tip(origin) == moved
    (still,) = held(paddock)
    assert still["state"] == "held"
    assert [(r["end"], "moved on" in r["reason"]) for r in still["releases"]] == [("failed", True)]


def test_a_release_needs_what_policy_gives_at_that_time(online, way):
    paddock = online(["git.example"])
    origin = repository(paddock.internet)
    env = way.policy(paddock)
    before = tip(origin)
    push_to_main(paddock, way, env)
    (push,) = held(paddock)
    way.policy(paddock, hold=[])
    refused = paddock("pushes", "release", push["id"], env=env)
    assert refused.code == 1 and "no rule allows it" in refused.err, refused
    assert tip(origin) == before
    way.policy(paddock)
    paddock("pushes", "release", push["id"], env=env).ok()
    assert tip(origin) != before
    assert [r["end"] for r in held(paddock)[0]["releases"]] == ["refused", "sent"]


def test_what_is_allowed_goes_at_once_and_what_is_not_is_refused_in_gits_words(online, way):
    paddock = online(["git.example"])
    origin = repository(paddock.internet)
    env = way.policy(paddock)
    script = f"""
git clone -q {way.clone(paddock.internet)} work 2>&1 && cd work || exit 9
{COMMIT} --allow-empty -m more
git push -q origin HEAD:refs/heads/agent/x 2>&1 && echo WENT
git push origin HEAD:refs/tags/v1 2>&1 || echo "refused with $?"
"""
    done = paddock.sh(script, env=env).ok()
    assert "WENT" in done.out and "no rule allows it" in done.out and "refused with 1" in done.out, done
    assert tip(origin, "refs/heads/agent/x") and not tip(origin, "refs/tags/v1")
    assert held(paddock) == []


def test_a_large_push_is_held_whole(online, way):
    paddock = online(["git.example"])
    origin = repository(paddock.internet)
    env = way.policy(paddock)
    script = f"""
git clone -q {way.clone(paddock.internet)} work 2>&1 && cd work || exit 9
head -c 5000000 /dev/urandom > big; git add big; {COMMIT} -m big
git push origin HEAD:refs/heads/main 2>&1; git rev-parse HEAD
"""
    done = paddock.sh(script, env=env).ok()
    (push,) = held(paddock)
    assert push["bytes"] > 5000000
    paddock("pushes", "release", push["id"], env=env).ok()
    assert tip(origin) == done.out.split()[-1]


def varint(number, first_bits=7, high=0):
    """A number as packs write it: seven bits a byte, the first with `first_bits` under `high`."""
    out = [high | (number & ((1 << first_bits) - 1))]
    number >>= first_bits
    while number:
        out[-1] |= 0x80
        out.append(number & 0x7F)
        number >>= 7
    return bytes(out)


def swelling_pack(copies):
    """A pack of some KB, with an object of `copies` times 16 MiB: a delta that copies its base again and again."""
    base = bytes(1 << 24)
    id = hashlib.sha1(b"blob %d\0" % len(base) + base).digest()
    size = 0xFFFFFF
    delta = varint(len(base)) + varint(copies * size) + b"\xf0\xff\xff\xff" * copies
    pack = b"PACK" + struct.pack(">II", 2, 2)
    pack += varint(len(base), 4, 3 << 4) + zlib.compress(base)
    pack += varint(len(delta), 4, 7 << 4) + id + zlib.compress(delta)
    return pack + hashlib.sha1(pack).digest()


def test_a_pack_that_swells_does_not_take_the_machine_with_it(online):
    paddock = online(["git.example"])
    repository(paddock.internet)
    push_to_main(paddock, Https, Https.policy(paddock))
    (push,) = held(paddock)
    request = paddock.state / "pushes" / push["id"] / "request"
    commands = request.read_bytes().split(b"PACK", 1)[0]
    request.write_bytes(commands + swelling_pack(copies=4))
    assert "cannot be shown" not in paddock("pushes", "show", push["id"]).ok().err, "the twin: 64 MiB are read"
    request.write_bytes(commands + swelling_pack(copies=192))
    shown = paddock("pushes", "show", push["id"]).ok()
    assert "its commits cannot be shown" in shown.err and "memory" in shown.err, shown
