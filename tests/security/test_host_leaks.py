"""What of the host must not be seen or steered: proc, sys, devices, IPC, sockets, descriptors."""
import ctypes
import os
import re
import socket
import subprocess
import time

import pytest

from support.host import ROOT, needs_root
from support.program import AGENT, GUESTS
from support.twins import bare, outside

SENSITIVE = [
    "/proc/kcore",
    "/proc/keys",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/kmsg",
    "/proc/kallsyms",
    "/proc/sysrq-trigger",
    "/proc/latency_stats",
    "/proc/acpi",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/kernel/security",
    "/dev/mem",
    "/dev/kmsg",
    "/dev/kvm",
    "/dev/fuse",
    "/dev/loop-control",
]


@pytest.mark.parametrize("path", SENSITIVE)
def test_a_sensitive_file_of_the_kernel_tells_nothing(paddock, path):
    done = paddock.sh(
        f"if test -d {path}; then ls -A {path}; else head -c 64 {path}; fi 2>/dev/null | grep -v ' 0000000000000000 '"
    )
    assert done.out.strip("\0 \n") == "" or "0000000000000000" in done.out, done.out[:200]


def test_twin_a_bare_sandbox_shows_some_of_them():
    seen = [
        path
        for path in SENSITIVE
        if outside(
            "sh",
            "-c",
            f"if test -d {path}; then ls -A {path}; else head -c 64 {path}; fi 2>/dev/null",
        ).stdout
    ]
    assert seen, "the guard-off side sees nothing: the matrix proves nothing"


STEERING = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hotplug",
    "/proc/sys/fs/binfmt_misc/register",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/kernel/hostname",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/proc/irq/default_smp_affinity",
    "/proc/fs/ext4",
]


@pytest.mark.parametrize("path", STEERING)
def test_what_steers_the_kernel_cannot_be_written(paddock, path):
    before = open("/proc/sys/kernel/core_pattern").read()
    done = paddock.sh(f"echo '|/tmp/evil' > {path}")
    assert done.code != 0
    assert open("/proc/sys/kernel/core_pattern").read() == before


def test_twin_bare_namespaces_allow_some_writes_below_proc_sys():
    assert bare("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward").returncode == 0


def test_a_crash_starts_no_host_helper_with_attacker_data(paddock, base):
    done = paddock.sh("ulimit -c unlimited; cd /tmp; sh -c 'kill -SEGV $$'; ls /tmp")
    assert "core" not in done.out


def test_no_descriptor_of_the_caller_is_inherited(paddock, base):
    secret = os.open(base / "home" / ".ssh" / "id_ed25519", os.O_RDONLY)
    folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    for fd in (secret, folder):
        os.set_inheritable(fd, True)
    argv = paddock.argv("run", "-q", "--mount", f"{GUESTS}:/guests:ro", "--", "/guests/fds")
    done = subprocess.run(
        argv,
        cwd=paddock.workspace,
        env=paddock.env,
        pass_fds=(secret, folder),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    twin = subprocess.run(
        [GUESTS / "fds"], pass_fds=(secret, folder), capture_output=True, text=True
    )
    os.close(secret), os.close(folder)
    assert (done.returncode, done.stdout) == (0, ""), done
    assert "id_ed25519" in twin.stdout


def test_pid_1_cannot_be_traced_read_or_killed(paddock):
    done = paddock.sh(
        "kill -9 1; kill -STOP 1; cat /proc/1/environ /proc/1/maps /proc/1/mem; ls -l /proc/1/fd /proc/1/exe /proc/1/root; "
        "ls /proc/1/root/; echo alive"
    )
    assert done.out.splitlines()[-1] == "alive"
    assert (
        "paddock-agent" not in done.out.replace("paddock-agent\n", "") and "/home" not in done.out
    )


def test_the_agents_program_cannot_be_overwritten(paddock):
    agent = AGENT
    before = outside("sha256sum", agent).stdout
    paddock.sh(
        "for p in /proc/1/exe /proc/self/exe; do echo x > $p; dd if=/dev/zero of=$p count=1 conv=notrunc; done; "
        "find / -name 'paddock-agent*' -not -path '/proc/*' 2>/dev/null -exec sh -c 'echo x > {}' \\;; true"
    )
    assert outside("sha256sum", agent).stdout == before


def test_an_entry_point_that_is_the_runtime_itself_gains_nothing(paddock, repo):
    agent = AGENT
    before = outside("sha256sum", agent).stdout
    (repo / "entry").write_text("#!/proc/self/exe\n")
    (repo / "entry").chmod(0o755)
    paddock.run("./entry", options=["--timeout", "10"])
    assert outside("sha256sum", agent).stdout == before


@pytest.mark.parametrize(
    "link",
    [
        "/proc/self/root",
        "/proc/self/cwd/..",
        "/proc/1/root",
        "/proc/1/cwd",
        "/proc/self/task/1/root",
        "/dev/fd/3",
    ],
)
def test_magic_links_lead_nowhere_else(paddock, base, link):
    done = paddock.sh(
        f"cat {link}{base}/home/.ssh/id_ed25519 {link}/root/.bashrc {link}/etc/shadow 2>/dev/null"
    )
    assert "PRIVATE KEY" not in done.out and "root:" not in done.out


@pytest.mark.parametrize(
    "up", ["/..", "/../..", "/proc/self/cwd/../../../../../../../..", "/tmp/../.."]
)
def test_above_the_root_there_is_nothing(paddock, base, up):
    """A runtime that leaves the old root mounted over the new one shows the host as `/..`."""
    server = socket.socket(socket.AF_UNIX)
    os.chdir(base)
    server.bind("host.sock")
    server.listen()
    os.chdir("/")
    twin = (
        outside(GUESTS / "reach", "unix", base / "host.sock", cwd=base)
        if len(str(base)) < 90
        else None
    )
    done = paddock.sh(
        f"stat -c %d:%i / {up}; stat {up}/etc/shadow {up}{base}/host.sock 2>/dev/null; "
        f"/guests/reach unix {up}{base}/host.sock",
        "--mount",
        f"{GUESTS}:/guests:ro",
    ).ok()
    server.close()
    lines = done.out.splitlines()
    assert lines[0] == lines[1] and len(lines) == 3, done
    assert lines[2].startswith("ENOENT"), done
    assert twin is None or twin.stdout.startswith("ok")


def test_abstract_sockets_of_the_host_are_not_reachable(paddock, base):
    server = socket.socket(socket.AF_UNIX)
    name = f"paddock-security-{base.name}"
    server.bind(f"\0{name}")
    server.listen()
    done = paddock.guest("reach", "abstract", name).ok()
    twin = outside(GUESTS / "reach", "abstract", name)
    server.close()
    assert done.out.startswith("ECONNREFUSED") and twin.stdout.startswith("ok")


def test_a_socket_in_the_workspace_leads_to_no_host_service(paddock, repo):
    server = socket.socket(socket.AF_UNIX)
    os.chdir(repo)
    server.bind("service.sock")
    server.listen()
    done = paddock.guest("reach", "unix", "service.sock").ok()
    twin = outside(GUESTS / "reach", "unix", "service.sock", cwd=repo)
    server.close()
    os.unlink(repo / "service.sock")
    os.chdir("/")
    assert not done.out.startswith("ok") and twin.stdout.startswith("ok")


def test_sockets_of_daemons_agents_and_desktops_are_not_there(paddock):
    done = paddock.sh(
        "find / -type s -not -path '/proc/*' 2>/dev/null; ls -d /run/docker* /run/containerd* /run/podman* /run/user/* "
        "/run/dbus /tmp/.X11-unix /tmp/ssh-* /tmp/vscode* 2>/dev/null; env | grep -E 'SSH_AUTH|DBUS|WAYLAND|DISPLAY|XDG_RUNTIME'"
    )
    assert done.out == "", done.out


def test_shared_memory_of_the_host_and_of_other_sandboxes_is_not_seen(paddock):
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x5EED
    segment = libc.shmget(key, 4096, 0o1666)
    try:
        script = f"import ctypes\nl = ctypes.CDLL(None)\nprint(l.shmget({key}, 4096, 0))"
        assert paddock.run("python3", "-c", script).ok().out == "-1\n"
        assert outside("/usr/bin/python3", "-c", script).stdout.strip() == str(segment)
    finally:
        libc.shmctl(segment, 0, None)
    assert paddock.sh("ls /dev/shm; ls /dev/mqueue; tail -n +2 /proc/sysvipc/shm").ok().out == ""


def test_two_sandboxes_see_nothing_of_each_other(paddock, base):
    first = paddock.start(
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        "echo x > /tmp/shared; echo x > /dev/shm/shared; echo up; sleep 1000",
        stdout=subprocess.PIPE,
    )
    assert first.stdout.readline() == b"up\n"
    done = paddock.sh("ls /tmp /dev/shm /var/tmp; ps aux | grep -c 'sleep 100[0]'")
    first.terminate(), first.wait(), first.stdout.close()
    assert "shared" not in done.out and done.out.split()[-1] == "0"


def test_locks_and_keys_of_the_host_are_not_shared(paddock):
    done = paddock.sh("cat /proc/keys /proc/key-users 2>/dev/null | wc -l").ok()
    assert done.out.strip() == "0"


def test_the_hosts_name_and_size_are_not_told(paddock):
    done = paddock.sh("uname -n; cat /proc/sys/kernel/hostname /etc/hostname", "--memory", "256m")
    assert os.uname().nodename not in done.out.split()


def test_the_hosts_processes_cannot_be_signalled_or_seen(paddock):
    victim = subprocess.Popen(["sleep", "1000"])
    done = paddock.sh(f"kill -9 {victim.pid}; ls -d /proc/{victim.pid}; kill -9 -1; true")
    assert victim.poll() is None and f"/proc/{victim.pid}" not in done.out
    victim.kill(), victim.wait()


def users_of_processes_with(argument):
    wanted = f"sleep\0{argument}\0".encode()
    found = [pid for pid in os.listdir("/proc") if pid.isdigit() and cmdline(pid) == wanted]
    return {int(re.search(r"Uid:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) for pid in found}


def test_root_inside_is_not_root_outside(paddock, base):
    process = paddock.start(
        "run", "-q", "--", "sh", "-c", "id -u; exec sleep 1234.5", stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == (b"0\n" if ROOT else f"{os.geteuid()}\n".encode())
    end = time.monotonic() + 30
    while not (users := users_of_processes_with("1234.5")) and time.monotonic() < end:
        time.sleep(0.05)
    process.terminate(), process.wait(), process.stdout.close()
    assert users and 0 not in users
    if not ROOT:
        assert all(uid == os.geteuid() or uid >= 100000 for uid in users)


def cmdline(pid):
    try:
        return open(f"/proc/{pid}/cmdline", "rb").read()
    except OSError:
        return b""


def test_a_descriptor_passed_in_over_a_socket_cannot_be_had(paddock, base):
    """No socket leads out, so none leads in: a granted folder is the one door, and it is named."""
    needs_root()
    given = base / "given"
    given.mkdir()
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(given / "s"))
    server.listen()
    done = paddock.guest("reach", "unix", "/given/s", options=["--mount", f"{given}:/given"])
    server.close()
    assert not done.out.startswith("ok") or any(
        "given" in grant for grant in done.decision["grants"]
    )
