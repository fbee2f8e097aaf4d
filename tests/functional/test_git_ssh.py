"""Git over ssh by repository and ref: the gate is the program's server and a client of the real host."""
import json
import os
import shutil
import subprocess

import pytest

from support.host import needs
from support.internet import Ssh
from support.rules import rule
from support.trees import git
from support.unix_services import wait_for_listener

NAME = ("-c", "user.name=a", "-c", "user.email=a@b")
COMMIT = "git -c user.name=a -c user.email=a@b commit -q"


@pytest.fixture
def hosted(online):
    """A paddock, and acme/app.git and acme/secret.git on a host that it reaches by ssh."""
    paddock = online(["git.example"])
    paddock.ssh = Ssh(paddock.internet, "git.example")
    paddock.folder = paddock.internet.folder / "git"
    for name in ("app", "secret"):
        origin = paddock.folder / "acme" / f"{name}.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", origin], check=True)
        tree = git(origin, "hash-object", "-t", "tree", "-w", "/dev/null").strip()
        first = git(origin, *NAME, "commit-tree", "-m", "first", tree).strip()
        git(origin, "update-ref", "refs/heads/main", first)
    (paddock.home / ".ssh" / "known_hosts").write_text(paddock.ssh.known)
    return paddock


def policy(paddock, rules=None, key=None):
    paddock.policy(
        (rules or rule(hosts=["git.example"], protocol="git", repositories=["**/acme/app"], push=["agent/*"]))
        + f'[[credential]]\nname = "key"\nkind = "ssh"\nfrom = "file:{key or paddock.ssh.key}"\n'
        + f'user = "{paddock.ssh.user}"\nhosts = ["git.example"]\n')


@pytest.fixture
def agent(base):
    """A real ssh-agent without keys; `add(key)` gives it one and returns the fingerprint."""
    needs("ssh-agent", shutil.which("ssh-agent"), "not installed")
    path = base / "agent.sock"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    wait_for_listener(path, process)

    class Agent:
        env = {"SSH_AUTH_SOCK": str(path)}

        def add(self, key):
            subprocess.run(["ssh-add", "-q", key], env={**os.environ, **self.env}, check=True)
            return subprocess.run(["ssh-keygen", "-lf", key], capture_output=True, text=True, check=True).stdout.split()[1]

    yield Agent()
    process.kill()
    process.wait()


def agent_policy(paddock, source, hosts=("git.example",)):
    paddock.policy(
        rule(hosts=["git.example"], protocol="git", repositories=["**/acme/app"], push=["agent/*"])
        + f'[[credential]]\nname = "key"\nkind = "ssh"\nfrom = "{source}"\nuser = "{paddock.ssh.user}"\n'
        + f"hosts = {json.dumps(list(hosts))}\n")


def other_key(base):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", base / "other"], check=True)
    return base / "other"


def test_a_key_stays_in_the_users_agent(hosted, agent):
    fingerprint = agent.add(hosted.ssh.key)
    agent.add(other_key(hosted.base))
    hosted.ssh.key.unlink()  # nothing but the agent has it now
    script = f"""
git clone -q {url(hosted)} work 2>&1 && cd work || exit 9
{COMMIT} --allow-empty -m one
git push -q origin HEAD:refs/heads/agent/REF 2>&1 && echo WENT
echo "agent: ${{SSH_AUTH_SOCK-none}}"
"""
    for ref, source in (("x", "agent:"), ("y", f"agent:{fingerprint}")):
        agent_policy(hosted, source)
        done = hosted.sh(script.replace("REF", ref), env=agent.env).ok()
        assert "WENT" in done.out, done
        assert "agent: none" in done.out, "inside there is no agent"
        events = [e for e in done.report["network"]["events"] if e["protocol"] == "ssh" and e["verdict"] == "allowed"]
        assert events and all(e["credentials"] == ["key"] for e in events)


def test_another_key_of_the_agent_is_not_used(hosted, agent):
    agent.add(hosted.ssh.key)
    other = agent.add(other_key(hosted.base))
    script = f"git ls-remote {url(hosted)} 2>&1 || echo $?"
    agent_policy(hosted, f"agent:{other}")
    assert "in by a key of the ssh agent" in hosted.sh(script, env=agent.env).ok().out
    assert "Accepted" not in hosted.ssh.log()
    agent_policy(hosted, "agent:", hosts=["elsewhere.example"])
    assert "no credential of kind ssh is bound to git.example:22" in hosted.sh(script, env=agent.env).ok().out
    agent_policy(hosted, "agent:")
    assert "refs/heads/main" in hosted.sh(script, env=agent.env).ok().out, "the twin"


def test_an_agent_that_cannot_sign_is_an_error_before_anything_runs(hosted, agent):
    agent_policy(hosted, "agent:")
    hosted.sh("true", env=agent.env).refused("the ssh agent does not hold a key", "ssh-add")
    agent.add(other_key(hosted.base))
    missing = "SHA256:" + "A" * 43
    agent_policy(hosted, f"agent:{missing}")
    hosted.sh("true", env=agent.env).refused(f"does not hold {missing}")
    hosted.sh("true").refused("SSH_AUTH_SOCK is not set")
    agent_policy(hosted, "agent:me@host")
    hosted.sh("true", env=agent.env).refused("is no fingerprint")
    hosted.policy(rule(hosts=["git.example"]) + '[[credential]]\nname = "x"\nfrom = "agent:"\nhosts = ["git.example"]\n')
    hosted.sh("true", env=agent.env).refused("only a credential of kind ssh")


def url(paddock, name="app"):
    return f"ssh://git.example{paddock.folder}/acme/{name}.git"


def test_git_clones_and_pushes_only_where_it_may(hosted):
    policy(hosted)
    script = f"""
git clone -q {url(hosted)} work 2>&1 && cd work || exit 9
{COMMIT} --allow-empty -m one
git push -q origin HEAD:refs/heads/agent/x 2>&1 && echo WENT
git push origin HEAD:refs/heads/main 2>&1 || echo "refused with $?"
git fetch -q origin && git log --oneline origin/agent/x
git clone -q {url(hosted, "secret")} other 2>&1 || echo "no clone: $?"
"""
    done = hosted.sh(script).ok()
    assert "WENT" in done.out and "refused with 1" in done.out and "one" in done.out, done
    assert "[remote rejected]" in done.out and "no rule allows it" in done.out
    assert "no clone: 128" in done.out and done.out.count("no rule allows it") >= 2
    origin = hosted.folder / "acme" / "app.git"
    refs = git(origin, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/agent/x", "refs/heads/main"]
    events = [e for e in done.report["network"]["events"] if e["protocol"] == "ssh"]
    assert ("git-receive-pack", "denied") in {(e["method"], e["verdict"]) for e in events}
    went = [e for e in events if e["verdict"] == "allowed" and e["method"] == "git-receive-pack"][0]
    assert went["credentials"] == ["key"] and went["address"] == "11.0.0.1" and went["request_bytes"] > 0
    assert hosted.ssh.key.read_text().split("\n")[1] not in json.dumps(done.report) + done.out


def test_a_large_repository_comes_and_goes_whole(hosted):
    policy(hosted)
    script = f"""
git clone -q {url(hosted)} work 2>&1 && cd work || exit 9
head -c 20000000 /dev/urandom > big; git add big; {COMMIT} -m big
git push -q origin HEAD:refs/heads/agent/big 2>&1 && echo WENT
git clone -q -b agent/big {url(hosted)} again 2>&1 && cmp big again/big && echo SAME
"""
    done = hosted.sh(script).ok()
    assert "WENT" in done.out and "SAME" in done.out, done


def test_a_host_that_is_unknown_is_not_logged_in_to(hosted):
    policy(hosted)
    script = f"git ls-remote {url(hosted)} 2>&1 || echo $?"
    known = hosted.home / ".ssh" / "known_hosts"
    known.write_text("")
    done = hosted.sh(script).ok()
    assert "known_hosts" in done.out and "connect to it once by ssh" in done.out, done
    other = hosted.ssh.known.replace("git.example", "other.example")
    known.write_text(other + "git.example " + hosted.ssh.key.with_suffix(".pub").read_text())
    assert "is not the one that is known" in hosted.sh(script).ok().out
    known.write_text(hosted.ssh.known + "@revoked * " + hosted.ssh.known.split(" ", 1)[1])
    assert "revoked" in hosted.sh(script).ok().out
    assert "Accepted" not in hosted.ssh.log()
    known.write_text(hosted.ssh.known)
    assert "refs/heads/main" in hosted.sh(script).ok().out, "the twin"


def test_without_a_key_or_with_a_wrong_one_the_reason_is_told(hosted):
    script = f"git ls-remote {url(hosted)} 2>&1 || echo $?"
    hosted.policy(rule(hosts=["git.example"], protocol="git"))
    assert "no credential of kind ssh is bound to git.example:22" in hosted.sh(script).ok().out
    policy(hosted, key=hosted.ssh.folder / "server")
    assert "does not let" in hosted.sh(script).ok().out


def test_plain_ssh_passes_untouched(hosted):
    hosted.policy(rule(hosts=["git.example"], protocol="ssh"))
    key = hosted.ssh.key
    script = f"""
cp /key key; chmod 600 key
ssh -o BatchMode=yes -o UserKnownHostsFile=/known -i key {hosted.ssh.user}@git.example echo through
"""
    known = hosted.base / "known"
    known.write_text(hosted.ssh.known)
    mounts = ("--mount", f"{key}:/key:ro", "--mount", f"{known}:/known:ro")
    assert hosted.sh(script, *mounts).ok().out == "through\n"
