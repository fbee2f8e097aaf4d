"""A small internet of a test's own: a network namespace with servers at public addresses, and one from
which paddock reaches them. Nothing leaves the machine; root makes it as it is, a user in a user namespace.

`Internet(base)` starts it. `internet.wrap(argv)` is the command that runs a program in its world: with
the world's resolver and the caller's own ids. `internet.queries()` are the names its DNS was asked for.

A host is a name -> address, or a list of address lists: one for each question, the last for ever.
"""
import json
import os
import pwd
import subprocess
import sys
import time
from pathlib import Path

from support.program import Paddock

HERE = Path(__file__).resolve().parent
NETWORK = "11.0.0"  # public by every registry, and routed nowhere here
CLIENT, SERVER = f"{NETWORK}.2", f"{NETWORK}.1"
INSIDE_ADDRESS = "10.9.9.9"  # a private one that leads to the servers too
ROOT = os.geteuid() == 0


def authority(folder):
    """A certificate authority for the servers: (certificate, key)."""
    certificate, key = folder / "servers.pem", folder / "servers.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", key, "-out", certificate, "-subj", "/CN=servers of the tests", "-days", "30"],
        check=True, capture_output=True,
    )
    return certificate, key


def leaf(folder, hosts):
    """(chain, key) for a server that is every one of these hosts."""
    certificate, authority_key = authority(folder)
    key, request, chain = (folder / f"leaf.{end}" for end in ("key", "csr", "pem"))
    subprocess.run(
        ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", request, "-subj", "/CN=leaf"],
        check=True, capture_output=True,
    )
    extensions = folder / "leaf.ext"
    extensions.write_text("subjectAltName=" + ",".join(f"DNS:{host}" for host in hosts) + "\n")
    subprocess.run(
        ["openssl", "x509", "-req", "-in", request, "-CA", certificate, "-CAkey", authority_key, "-out", chain,
         "-days", "30", "-extfile", extensions],
        check=True, capture_output=True,
    )
    return chain, key


class Internet:
    """`hosts`: name -> address, SERVER unless said. Ends with close()."""

    def __init__(self, base, hosts, registry=None):
        self.folder = Path(base) / "internet"
        self.folder.mkdir()
        self.hosts = {name: SERVER for name in hosts} if not isinstance(hosts, dict) else hosts
        self.chain, self.key = leaf(self.folder, self.hosts)
        self.trust = self.folder / "servers.pem"
        self.log = self.folder / "log"
        self.log.touch()
        (self.folder / "resolv.conf").write_text(f"nameserver {SERVER}\noptions timeout:2 attempts:1\n")
        (self.folder / "git").mkdir()
        self.processes = []
        self._start(registry)

    def _start(self, registry):
        own = [] if ROOT else ["-U", "-r"]
        world = self._spawn(
            ["unshare", *own, "-n", "-m", "--propagation", "private", "sh", "-ec",
             f"ip link set lo up; mount --bind {self.folder}/resolv.conf /etc/resolv.conf;"
             "echo ready; exec sleep infinity"])
        self.enter = ["nsenter", "-t", str(world.pid), "-n", "-m"]
        if not ROOT:
            self.enter += ["-U", "--preserve-credentials"]
        config = {"log": str(self.log), "hosts": self.hosts, "chain": str(self.chain), "key": str(self.key),
                  "git": str(self.folder / "git"), "registry": registry, "ssh": str(self.folder / "ssh"),
                  "root": ROOT}
        servers = self._spawn(
            [*self.enter, "unshare", "-n", sys.executable, str(HERE / "internet_servers.py"), json.dumps(config)])
        self.servers = servers
        for command in (
            f"ip link add up0 type veth peer name eth0 netns {servers.pid}",
            f"ip addr add {CLIENT}/24 dev up0",
            "ip link set up0 up",
            f"ip route add {INSIDE_ADDRESS}/32 via {SERVER}",
        ):
            subprocess.run([*self.enter, *command.split()], check=True, capture_output=True)
        servers.stdin.write("go\n")
        servers.stdin.flush()
        assert servers.stdout.readline() == "listening\n"

    def _spawn(self, command):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout.readline() == "ready\n", command
        return process

    def wrap(self, argv, cwd="/"):
        """A user keeps his ids: in a user namespace below the one that owns the network. Entering the mount
        namespace loses the working directory."""
        own = [] if ROOT else ["unshare", "-U", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"]
        return [*self.enter, *own, "sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *map(str, argv)]

    def spawn(self, argv, until):
        """Another server beside the others; returns once it has said `until`."""
        inner = ["nsenter", "-t", str(self.servers.pid), "-n", "--preserve-credentials"]
        log = self.folder / f"server-{len(self.processes)}"
        process = subprocess.Popen([*self.enter, *inner, *map(str, argv)], stdin=subprocess.PIPE,
                                   stdout=log.open("w"), stderr=subprocess.STDOUT)
        self.processes.append(process)
        while until not in log.read_text():
            assert process.poll() is None, log.read_text()
            time.sleep(0.02)

    def serve(self, name, **config):
        """A server of support/client_servers.py."""
        config = {"chain": str(self.chain), "key": str(self.key), **config}
        self.spawn(["/usr/bin/python3", HERE / "client_servers.py", name, json.dumps(config)], "listening")

    def run(self, argv, env):
        """What a program prints on the host of this internet."""
        return subprocess.run(self.wrap(argv), env={**os.environ, **env}, check=True, capture_output=True,
                              text=True).stdout

    def entries(self, kind):
        """What the servers saw, as they wrote it: dicts with `kind`."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["kind"] == kind]

    def queries(self):
        return [entry["name"] for entry in self.entries("dns")]

    def requests(self):
        return self.entries("http")

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


class Ssh:
    """An sshd on every host of the internet. `user` may log in with `key`; `known` is a known_hosts line."""

    def __init__(self, internet, host):
        account = pwd.getpwnam("paddock-test") if ROOT else pwd.getpwuid(os.geteuid())
        self.user = account.pw_name
        self.folder = internet.folder / "ssh"
        self.folder.mkdir()
        self.key = self._make_key("client")
        server = self._make_key("server")
        self.known = f"{host} {server.with_suffix('.pub').read_text()}"
        (self.folder / "login").write_text(f"{account.pw_uid} {account.pw_gid}")
        (self.folder / "sshd_config").write_text(
            f"HostKey {server}\nAuthorizedKeysFile {self.key}.pub\nUsePAM no\nStrictModes no\nPidFile none\n"
            "PasswordAuthentication no\nAcceptEnv GIT_PROTOCOL\nLogLevel VERBOSE\n")

    def _make_key(self, name):
        key = self.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key], check=True)
        return key

    def log(self):
        file = self.folder / "log"
        return file.read_text() if file.exists() else ""


class OnlinePaddock(Paddock):
    """A paddock on a host that reaches `internet`. The host trusts its servers; `trusting` makes a program
    inside trust them too, where TLS passes through."""

    def __init__(self, base, workspace, internet):
        super().__init__(base, workspace)
        self.internet = internet
        self.env["SSL_CERT_FILE"] = str(internet.trust)
        self.trusting = ("--mount", f"{internet.trust}:/servers.pem:ro")

    def start(self, *args, cwd=None, env=None, **streams):
        return subprocess.Popen(
            self.internet.wrap(self.argv(*args), cwd or self.workspace),
            env={**self.env, **(env or {})},
            start_new_session=True,
            **{"stdin": subprocess.DEVNULL, **streams},
        )

    def policy(self, text):
        """Writes the user's policy."""
        folder = self.home / ".config" / "paddock"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "policy.toml").write_text(text)
