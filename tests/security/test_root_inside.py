"""Root of a live sandbox, by `sudo`: what it cannot do, each beside what shows that the attack is real."""
import pytest
from support.daemon import Daemon
from support.host import needs_root
from support.program import GUESTS
from support.twins import probe_bare, probed

BLOCKED = {"EPERM", "EACCES", "ENOSYS"}
CALLS = [
    "mount",
    "umount2",
    "pivot_root",
    "unshare_user",
    "unshare_mount",
    "setns",
    "fsopen",
    "bpf",
    "perf",
    "init_module",
    "open_by_handle_at",
    "reboot",
    "settimeofday",
]


@pytest.fixture
def daemon(paddock):
    needs_root()
    daemon = Daemon(paddock)
    yield daemon
    assert daemon.stop() == 0, daemon.log.read_text()


@pytest.fixture
def sandbox(daemon):
    return daemon.create()


@pytest.fixture
def sh(daemon, sandbox):
    """Runs a script as the sandbox's user: what it printed, and its status."""

    def run(script):
        out, code = daemon.start(sandbox, script)
        return out.decode(), code

    return run


ATTACH = (
    "import ctypes,sys;"
    "libc=ctypes.CDLL(None,use_errno=True);"
    "print(libc.ptrace(16,int(sys.argv[1]),0,0), ctypes.get_errno())"
)


def test_root_makes_no_mount_and_opens_no_kernel_surface(daemon, sandbox, sh):
    status, answer, _ = daemon.inside(
        sandbox,
        "POST",
        "/files?path=/tmp/probe",
        (GUESTS / "probe").read_bytes(),
        {"Content-Type": "application/octet-stream"},
    )
    assert status == 200, answer
    out, _ = sh(f"chmod +x /tmp/probe; sudo /tmp/probe {' '.join(CALLS)}")
    inside, bare = probed(out), probe_bare("mount", "pivot_root", "unshare_user")
    for call in CALLS:
        assert inside[call] in BLOCKED, (call, inside[call])
    assert sh("sudo mknod /tmp/disk b 8 0 2>&1; sudo mkfifo /tmp/pipe; ls /tmp")[0].endswith(
        "pipe\nprobe\n"
    )
    for call, answer in bare.items():
        assert answer not in BLOCKED, (call, answer)


def test_root_cannot_look_into_the_agent(sh):
    out, _ = sh(
        f'sudo python3 -c "{ATTACH}" 1; sudo cat /proc/1/environ 2>&1; sudo ls /proc/1/fd 2>&1'
    )
    assert out.splitlines()[0] == "-1 1"
    assert out.count("Permission denied") >= 1, out
    out, _ = sh(f'sleep 60 & sudo python3 -c "{ATTACH}" $!; kill -9 $!')
    assert out == "-1 1\n"  # another command's Landlock domain
    out, _ = sh(f"sudo sh -c 'sleep 60 & python3 -c \"$0\" $!; kill -9 $!' '{ATTACH}'")
    assert out == "0 0\n", "the attack works where nothing is in its way"


def test_root_cannot_end_the_sandboxs_first_process(sh):
    assert (
        sh("sudo kill -9 1; sudo kill -STOP 1; sudo kill -TERM 1; sleep 0.3; echo alive")[0]
        == "alive\n"
    )
    assert sh("sleep 60 & sudo kill -9 $!; wait $!; echo $?")[0] == "137\n"


def test_ids_inside_never_are_the_hosts(sandbox, sh):
    for who in ("", "sudo "):
        out, _ = sh(f"{who}cat /proc/self/uid_map /proc/self/gid_map")
        for line in out.splitlines():
            inside, outside, count = map(int, line.split())
            assert (inside, count) == (0, 65535)
            assert outside >= 0x70000000
    # The id that the host's root would be shown as is nobody's here; its neighbour is somebody's.
    for number, status in ((65534, 0), (65535, 1)):
        assert sh(f"sudo python3 -c 'import os; os.setuid({number})' 2>&1")[1] == status
        assert sh(f"touch /tmp/f{number}; sudo chown {number} /tmp/f{number} 2>&1")[1] == status


def test_a_setuid_program_raises_nobody(sh):
    out, _ = sh(
        "sudo cp /usr/bin/id /tmp/id && sudo chmod 4755 /tmp/id && stat -c %a /tmp/id; /tmp/id -u"
    )
    assert out == "4755\n1000\n"


def test_only_the_sandboxs_user_and_root_may_ask(sh):
    assert sh("sudo -u nobody sudo id -u 2>&1")[0] == "sudo: id: the agent refuses to run it\n"
    assert sh("sudo -u user sudo id -u")[0] == "0\n"


def test_root_of_one_sandbox_reaches_no_agent_of_another(daemon, sandbox, sh):
    other = daemon.create()
    assert daemon.start(other, "sudo touch /root/theirs")[1] == 0
    out, _ = sh("sudo ls -A /root; sudo touch /root/ours; grep -c paddock/sudo /proc/net/unix")
    assert out == "1\n"
    assert daemon.start(other, "sudo ls -A /root")[0] == b"theirs\n"
    # Without its socket there is none: nothing else leads to an agent.
    assert sh("sudo rm /run/paddock/sudo; sudo id -u 2>&1")[1] != 0


def test_root_cannot_change_the_agents_program(sh):
    for path in ("/run/paddock/agent", "/usr/bin/sudo"):
        out, code = sh(f"sudo chmod 777 {path} 2>&1")
        assert code != 0 and "Read-only" in out, out
        assert sh(f"sudo sh -c 'echo x >> {path}' 2>&1")[1] != 0
        assert sh(f"sudo rm {path} 2>&1")[1] != 0


def test_a_hostile_request_to_the_agent_is_dropped(sh):
    attack = (
        "import socket,struct,os;"
        "s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET);"
        "s.connect('/run/paddock/sudo');"
        "socket.send_fds(s,[struct.pack('I',%s)],%s);"
        "s.send(b'\\\\xff'*%s);"
        "s.settimeout(15);"
        "print(len(s.recv(1000)))"
    )
    for length, fds, size in (
        ("4000000000", "[0,1,2,0]", "10"),
        ("10", "[0]", "10"),
        ("10", "[0,1,2,0]", "10"),
        ("10", "[0]*30", "10"),
    ):
        sh(f'python3 -c "{attack % (length, fds, size)}"')
    assert sh("sudo id -u")[0] == "0\n"
