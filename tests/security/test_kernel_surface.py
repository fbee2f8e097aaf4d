"""Kernel surface that is closed by default. Each refusal is seen from inside and, where the filter
reports, in the denials; its twin shows that bare namespaces let the call through to the kernel."""
import platform

import pytest

from support.program import GUESTS
from support.twins import bare, probe_bare, probed

# What a filter answers. Any other errno means that the kernel itself looked at the arguments.
BLOCKED = {"EPERM", "EACCES", "ENOSYS"}
BLOCKED_FAMILY = BLOCKED | {"EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT"}

# Calls that open a way to new kernel surface, to other processes, or to the machine.
CALLS = [
    "unshare_user",
    "unshare_net",
    "unshare_mount",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "clone_user",
    "bpf",
    "perf",
    "fsopen",
    "fsmount",
    "fsconfig",
    "fspick",
    "open_tree",
    "move_mount",
    "mount_setattr",
    "add_key",
    "request_key",
    "keyctl",
    "userfaultfd",
    "kcmp",
    "open_by_handle_at",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "settimeofday",
    "clock_settime",
    "iopl",
    "ioperm",
    "fanotify_init",
    "move_pages",
    "migrate_pages",
    "lookup_dcookie",
    "nfsservctl",
    "mknod_block",
    "syslog",
]
# Refused by capability alone (the kernel says so after looking at the arguments), not by the filter.
NOT_FILTERED = {"settimeofday", "clock_settime", "mknod_block"}
SILENT = ["clone3", "io_uring"]
FAMILIES = [
    "af_alg",
    "af_packet",
    "af_vsock",
    "af_xdp",
    "af_bluetooth",
    "af_netlink_netfilter",
    "af_netlink_audit",
    "af_key",
    "af_can",
    "af_tipc",
    "af_rds",
    "raw_icmp",
    "sctp",
    "dccp",
]
ALLOWED = ["af_inet", "af_inet6", "af_unix"]


@pytest.fixture
def probe(paddock):
    def ask(*names):
        done = paddock.guest("probe", *names).ok()
        return probed(done.out), done

    return ask


@pytest.fixture(scope="module")
def unguarded():
    return probe_bare(*CALLS, *SILENT, *FAMILIES, *ALLOWED)


@pytest.mark.parametrize("call", CALLS)
def test_a_dangerous_call_is_refused(probe, call):
    answers, done = probe(call)
    blocked = BLOCKED | ({"EFAULT", "EINVAL", "ENOENT"} if call in NOT_FILTERED else set())
    assert answers[call] in blocked, answers


# The calls of the list that bare namespaces grant outright; the rest end in the kernel's own checks.
GRANTED_BARE = [
    "unshare_user",
    "unshare_net",
    "unshare_mount",
    "clone_user",
    "fsopen",
    "userfaultfd",
    "keyctl",
    "add_key",
    "clone3",
    "io_uring",
    "af_packet",
    "af_netlink_netfilter",
]


@pytest.mark.parametrize("call", GRANTED_BARE)
def test_twin_bare_namespaces_let_the_call_through(unguarded, call):
    if unguarded[call] == "ENOSYS":
        pytest.skip(f"needs kernel-feature: this kernel has no {call}")
    assert unguarded[call] == "ok", unguarded


@pytest.mark.parametrize(
    "call",
    [
        "unshare_user",
        "bpf",
        "perf",
        "fsopen",
        "keyctl",
        "userfaultfd",
        "setns",
        "mount",
    ],
)
def test_a_refused_call_is_reported_with_its_rule_and_process(probe, call):
    _, done = probe(call)
    name = {"unshare_user": "unshare", "perf": "perf_event_open"}.get(call, call)
    denials = done.denied("syscall", name)
    assert denials, done
    assert name in denials[0]["rule"] and denials[0]["process"] == "probe" and denials[0]["pid"] > 0


@pytest.mark.parametrize("call", SILENT)
def test_calls_that_every_libc_retries_around_answer_enosys_silently(probe, call):
    answers, done = probe(call)
    assert answers[call] == "ENOSYS"
    assert not done.denied("syscall")


@pytest.mark.parametrize("family", FAMILIES)
def test_an_odd_socket_family_is_refused(probe, family):
    answers, done = probe(family)
    assert answers[family] in BLOCKED_FAMILY, answers


def test_af_alg_is_refused_by_the_filter_and_not_for_want_of_the_module(probe):
    answers, done = probe("af_alg")
    assert answers["af_alg"] in BLOCKED_FAMILY
    assert done.denied("syscall", "socket"), done


def test_the_usual_families_work(probe):
    answers, _ = probe(*ALLOWED)
    assert set(answers.values()) == {"ok"}


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="needs x86-64: other system call ABIs are x86's"
)
@pytest.mark.parametrize("abi", ["int80", "x32"])
def test_a_second_system_call_abi_is_no_way_around(paddock, abi):
    done = paddock.guest("foreign_abi", abi)
    if done.code == 0:
        assert done.out.strip() in BLOCKED, done
    else:
        assert done.code == 128 + 31, done  # SIGSYS
    twin = bare(GUESTS / "foreign_abi", abi)
    # The bare kernel reaches the socket layer through int 0x80 (or has no such ABI at all).
    assert twin.stdout.strip() in ("ok", "EAFNOSUPPORT", "ENOSYS")


def test_a_new_user_namespace_cannot_be_made_by_any_tool(paddock):
    for command in (
        "unshare -Ur true",
        "unshare -Un true",
        "python3 -c 'import os; os.unshare(0x10000000)'",
    ):
        assert paddock.sh(command).code != 0, command
    assert bare("unshare", "-Ur", "true").returncode == 0


def test_mounting_is_refused_to_root_inside(paddock):
    done = paddock.sh(
        "mount -t tmpfs none /tmp || mount --bind /etc /tmp || mount -t cgroup none /tmp || mount -t proc none /tmp"
    )
    assert done.code != 0
    assert bare("mount", "-t", "tmpfs", "none", "/tmp").returncode == 0


def test_a_cgroup_release_agent_cannot_be_written(paddock):
    done = paddock.sh(
        "find / -name release_agent -not -path '/proc/*' 2>/dev/null | while read f; do echo x > $f && echo wrote; done; "
        "ls /sys/fs/cgroup 2>/dev/null | head -1; true"
    ).ok()
    assert "wrote" not in done.out


def test_no_capability_is_left_in_any_set(paddock):
    done = paddock.sh("grep ^Cap /proc/self/status; capsh --print | grep -E '^(Current:|Bounding)'")
    assert done.ok().out.count("0" * 16) == 5, done
    assert "cap_" not in done.out, done
    assert "cap_" in bare("capsh", "--print").stdout


def test_capabilities_do_not_come_back_through_a_file_or_setuid(paddock):
    done = paddock.sh(
        "cp /usr/bin/python3 /tmp/p && chmod 4755 /tmp/p && setcap cap_sys_admin+ep /tmp/p; "
        "/tmp/p -c 'print(open(\"/proc/self/status\").read())' | grep CapEff"
    )
    assert "0" * 16 in done.out, done


def test_the_filter_cannot_be_taken_off(paddock):
    script = (
        "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n"
        "print(l.prctl(38, 0, 0, 0, 0), l.prctl(22, 0, 0, 0, 0), open('/proc/self/status').read().count('Seccomp:\\t2'))"
    )
    assert paddock.run("python3", "-c", script).ok().out == "-1 -1 1\n"


def test_a_listener_of_the_filter_cannot_be_stolen_or_added(probe):
    answers, _ = probe("seccomp_listener")
    assert answers["seccomp_listener"] in BLOCKED | {"EFAULT", "EBUSY", "EINVAL"}


def test_terminal_injection_is_refused(paddock):
    answer = probed(paddock.guest("probe", "tiocsti").ok().out)["tiocsti"]
    assert answer in BLOCKED | {"ENXIO", "ENOTTY", "EIO"}


def test_arguments_behind_pointers_decide_nothing(paddock):
    """Two threads race the content of a pathname: what may be opened never depends on it."""
    script = """
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(b'/etc/shadow\\0pad')
stop = []
def flip():
    while not stop:
        buffer[0:11] = b'/etc/passwd'; buffer[0:11] = b'/etc/shadow'
t = threading.Thread(target=flip); t.start()
got = set()
for _ in range(20000):
    fd = libc.open(buffer, 0)
    if fd >= 0:
        data = ctypes.create_string_buffer(64); libc.read(fd, data, 63); got.add(b'$' in data.value and b':19' in data.value); libc.close(fd)
stop.append(1); t.join()
print(got <= {False})
"""
    assert paddock.run("python3", "-c", script).ok().out == "True\n"
