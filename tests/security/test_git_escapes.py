"""Git over ssh gives refs of repositories and nothing else: no shell, forwarding, key or other command."""
import json
import subprocess
from pathlib import Path

import pytest

from support.internet import Ssh
from support.rules import rule
from support.trees import git


@pytest.fixture
def hosted(online):
    paddock = online(["git.example"])
    paddock.ssh = Ssh(paddock.internet, "git.example")
    (paddock.home / ".ssh" / "known_hosts").write_text(paddock.ssh.known)
    paddock.origin = paddock.internet.folder / "git" / "acme" / "app.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", paddock.origin], check=True)
    paddock.policy(
        rule(hosts=["git.example"], protocol="git", repositories=["**/acme/app"], push=["agent/*"])
        + f'[[credential]]\nname = "key"\nkind = "ssh"\nfrom = "file:{paddock.ssh.key}"\n'
        + f'user = "{paddock.ssh.user}"\nhosts = ["git.example"]\n')
    return paddock


def direct(paddock, command):
    """The twin: the same command with the same key and nobody in between."""
    argv = ["ssh", "-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={paddock.home}/.ssh/known_hosts", "-i",
            paddock.ssh.key, f"{paddock.ssh.user}@git.example", command]
    return subprocess.run(paddock.internet.wrap(argv), capture_output=True, text=True, timeout=60)


def test_no_command_but_gits_reaches_the_host(hosted):
    mark = hosted.base / "mark"
    commands = [
        f"touch {mark}",
        f"git-upload-pack '{hosted.origin}'; touch {mark}",
        f"git-upload-pack '{hosted.origin}$(touch {mark})'",
        f"git-upload-pack '{hosted.origin}' '`touch {mark}`'",
        f"git-upload-pack {hosted.origin} && touch {mark}",
        f"git-upload-archive '{hosted.origin}'",
        f"sh -c 'touch {mark}'",
        f"git-receive-pack '{hosted.origin}'\ntouch {mark}",
    ]
    script = "\n".join(f"ssh git.example {json_quoted(c)} </dev/null 2>&1; echo \"=$?\"" for c in commands)
    for way in ("ssh -T git.example", "ssh -s git.example sftp"):
        script += f"\n{way} 2>&1 </dev/null; echo \"=$?\""
    script += "\nssh -tt git.example 2>&1 </dev/null"
    done = hosted.sh(script)
    assert not mark.exists()
    assert "PTY allocation request failed" in done.out
    assert done.out.count("=128") == len(commands) + 2, done
    assert "Accepted" not in hosted.ssh.log(), "nobody logged in"
    direct(hosted, commands[1])
    assert mark.exists(), "with the guard off it works"


def json_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def test_nothing_is_forwarded(hosted):
    script = """
ssh -o ExitOnForwardFailure=yes -N -R 7000:127.0.0.1:22 git.example 2>&1 </dev/null; echo "remote=$?"
ssh -W 127.0.0.1:22 git.example 2>&1 </dev/null; echo "direct=$?"
"""
    done = hosted.sh(script).ok()
    assert "remote=0" not in done.out and "direct=0" not in done.out, done
    assert "SSH-2.0-OpenSSH" not in done.out
    assert "Accepted" not in hosted.ssh.log()


def test_a_ref_that_is_refused_never_arrives_whatever_goes_with_it(hosted):
    push = "git push origin HEAD:refs/heads/agent/x HEAD:refs/heads/main"
    script = f"""
git clone -q ssh://git.example{hosted.origin} work 2>&1; cd work || exit 9
git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
{push} 2>&1; {push.replace("push", "push --atomic", 1)} 2>&1; git push -f origin +HEAD:main 2>&1
git push -o ci.skip origin HEAD:main 2>&1
git push origin HEAD:refs/heads/agent/x 2>&1
"""
    hosted.sh(script).ok()
    refs = git(hosted.origin, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/agent/x"], "the twin went"


def test_the_private_keys_are_nowhere_inside(hosted):
    secrets = [line for key in (hosted.ssh.key,) for line in key.read_text().splitlines()[1:-1]]
    script = f"""
git ls-remote ssh://git.example{hosted.origin} 2>&1
cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; env
cat /etc/ssh/ssh_known_hosts; ls -a ~ ~/.ssh 2>&1; ls -R /run/paddock 2>&1
ssh-add -l 2>&1; find / -xdev -name 'ssh_host_*key' 2>/dev/null
"""
    done = hosted.sh(script).ok()
    gate = (hosted.state / "egress-ca" / "ssh_host_ed25519_key").read_text().splitlines()[1:-1]
    for line in secrets + gate:
        assert line not in done.out + done.err + json.dumps(done.report)
    assert done.out.count("git.example ssh-ed25519") == 1, "the gate's public key is"
    assert "Accepted" in hosted.ssh.log(), "and the key was used"


def helpers_of(pid):
    """Status files of the paddock-ssh processes below `pid`."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            above = int(fields["PPid"])
            while above not in (0, 1, pid):
                above = int(Path(f"/proc/{above}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, KeyError, ValueError):
            continue
        if above == pid and fields["Name"] == "paddock-ssh":
            found.append(fields)
    return found


def test_what_speaks_ssh_is_confined_on_both_sides(hosted):
    script = f"sleep 1000 | ssh git.example \"git-upload-pack '{hosted.origin}'\""
    process = hosted.start("run", "--", "sh", "-c", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.read(4).isalnum(), "the host's git speaks: all is in place"
        helpers = helpers_of(process.pid)
        assert len(helpers) == 2, helpers
        for fields in helpers:
            assert (fields["Seccomp"], fields["NoNewPrivs"]) == ("2", "1"), fields
    finally:
        process.terminate()
        process.wait()
