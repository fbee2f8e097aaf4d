"""Template `host`: the machine's own tools and nothing else of the machine."""
import os
import stat

from support.host import ROOT, needs
from support.trees import write


def test_the_machines_tools_are_there(paddock):
    done = paddock.sh(
        "for p in sh bash git python3 gcc make; do command -v $p || echo no $p; done"
    ).ok()
    assert "no sh" not in done.out and "no python3" not in done.out and "no git" not in done.out


def test_homes_keys_sockets_and_run_are_not(paddock, base, repo):
    assert paddock.sh("ls -A /root /home /run 2>/dev/null | sort").code == 0
    done = paddock.sh(
        f"cat {base}/home/.ssh/id_ed25519 {base}/home/.aws/credentials; ls -A {base}/home {base}"
    )
    assert "PRIVATE KEY" not in done.out and "aws_secret" not in done.out
    assert "state" not in done.out and ".ssh" not in done.out
    for path in (
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/run/containerd",
        "/run/systemd",
        "/run/user",
        "/root/.ssh",
        "/var/lib/docker",
        "/var/lib/paddock",
        "/boot/vmlinuz",
        "/srv/x",
    ):
        assert paddock.sh(f"test ! -e {path}").code == 0, path


def test_no_other_mount_of_the_host_is_seen(paddock, repo):
    lines = paddock.sh("cat /proc/self/mountinfo").ok().out.splitlines()
    points = [line.split()[4] for line in lines]
    assert points.count("/") == 1, "the host's root is still mounted over ours"
    ours = (
        "/proc",
        "/sys",
        "/dev",
        "/tmp",
        "/var/tmp",
        "/usr",
        "/opt",
        "/etc",
        "/run",
        "/home/user",
        str(repo),
    )
    foreign = [
        point
        for point in points
        if point != "/" and not any(point == o or point.startswith(o + "/") for o in ours)
    ]
    assert not foreign


def test_etc_is_composed_without_secrets(paddock):
    done = paddock.sh(
        "cat /etc/shadow /etc/gshadow; ls /etc/ssh /etc/ssl/private /etc/sudoers /etc/paddock; true"
    )
    assert "root:" not in done.out and "ssh_host" not in done.out
    for name in ("passwd", "group", "hosts", "nsswitch.conf", "resolv.conf"):
        assert paddock.sh(f"test -r /etc/{name}").code == 0, name


def test_the_user_inside_has_a_name_and_localhost_an_address(paddock):
    done = paddock.sh(
        "id -un && id -gn && whoami && getent hosts localhost && echo $HOME && cd && pwd"
    ).ok()
    assert "127.0.0.1" in done.out or "::1" in done.out


def test_home_is_private_writable_and_gone_afterwards(paddock):
    assert (
        paddock.sh("echo x > ~/.bashrc && mkdir -p ~/.cache/y && ls -A ~").ok().out
        == ".bashrc\n.cache\n"
    )
    assert ".bashrc" not in paddock.sh("ls -A ~").ok().out


def test_private_temporary_folders_have_the_usual_modes(paddock):
    done = paddock.sh(
        "stat -c '%a %n' /tmp /var/tmp /dev/shm; touch /tmp/a /var/tmp/b /dev/shm/c; ls -A /tmp /dev/shm"
    )
    assert "1777 /tmp\n1777 /var/tmp\n1777 /dev/shm\n" in done.ok().out
    again = paddock.sh("ls -A /tmp /var/tmp /dev/shm").ok().out
    assert not {"a", "b", "c"} & set(again.split())
    assert not os.path.exists("/dev/shm/c")


def test_writes_to_the_system_go_to_a_throw_away_layer(paddock):
    if not ROOT:
        done = paddock.sh("for d in /usr /opt /usr/share; do touch $d/paddock-test && echo $d; done")
        assert done.code != 0 and done.out == ""
        return
    assert (
        paddock.sh(
            "echo x > /usr/share/paddock-test && cat /usr/share/paddock-test && "
            "echo '# x' >> /etc/passwd && rm /usr/bin/git"
        )
        .ok()
        .out
        == "x\n"
    )
    assert not os.path.exists("/usr/share/paddock-test") and os.path.exists("/usr/bin/git")
    assert paddock.sh("test ! -e /usr/share/paddock-test && git --version").code == 0


def test_the_decision_says_when_system_folders_stay_unwritable(paddock):
    needs("ordinary-user", not ROOT, "root may write them")
    text = str(paddock.sh("true").ok().decision).lower()
    assert "unwritable" in text or "read-only" in text or "not writable" in text


def test_devices_are_the_harmless_ones(paddock):
    done = paddock.sh("ls /dev").ok()
    names = set(done.out.split())
    assert {
        "null",
        "zero",
        "full",
        "random",
        "urandom",
        "tty",
        "shm",
        "pts",
        "ptmx",
        "fd",
        "stdin",
        "stdout",
        "stderr",
    } <= names
    assert not names & {
        "mem",
        "kmem",
        "port",
        "sda",
        "vda",
        "kvm",
        "fuse",
        "loop0",
        "loop-control",
        "net",
        "kmsg",
        "input",
        "snapshot",
        "vsock",
        "vhost-net",
    }
    assert (
        paddock.sh(
            "echo x > /dev/null && head -c 4 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c "
            "&& ! echo x > /dev/full"
        )
        .ok()
        .out
        == "4\n4\n"
    )


def test_processes_of_the_host_are_not_seen(paddock):
    done = paddock.sh("ls /proc | grep -c '^[0-9]*$'; cat /proc/1/comm").ok()
    count, first = done.out.split()
    assert int(count) < 10 and "paddock" in first


def test_locale_and_time_zone_work(paddock):
    done = paddock.run(
        "sh", "-c", "locale charmap; date +%Z", env={"LANG": "C.UTF-8", "TZ": "Asia/Tokyo"}
    )
    assert done.ok().out.split() == ["UTF-8", "JST"]


def test_hostname_is_not_the_hosts(paddock):
    assert paddock.sh("uname -n").ok().out.strip() != os.uname().nodename


def test_shm_takes_what_policy_says(paddock):
    # Chrome's renderer dies with 64 MiB.
    done = paddock.sh(
        "df -B1 --output=size /dev/shm | tail -1; head -c 256M /dev/zero > /dev/shm/x && echo written"
    )
    size, word = done.ok().out.split()
    assert int(size) >= 256 << 20 and word == "written"


def test_sysfs_and_proc_are_read_only_where_they_steer_the_kernel(paddock):
    done = paddock.sh(
        "for f in /proc/sys/kernel/hostname /proc/sysrq-trigger /sys/kernel/mm/ksm/run; do "
        "(echo 0 > $f) 2>/dev/null && echo wrote $f; done; true"
    ).ok()
    assert done.out == ""


def test_a_directory_as_root(paddock, base):
    root = base / "root"
    write(root, {"etc/marker": "here\n", "bin": None})
    busybox = "/bin/busybox" if os.path.exists("/bin/busybox") else "/usr/bin/busybox"
    with open(busybox, "rb") as source:
        (root / "bin" / "busybox").write_bytes(source.read())
    (root / "bin" / "busybox").chmod(0o755)
    (root / "bin" / "sh").symlink_to("busybox")
    done = paddock.run(
        "/bin/sh",
        "-c",
        "cat /etc/marker; echo x > /etc/new; pwd; /bin/busybox ls /",
        options=["--rootfs", root],
    ).ok()
    assert done.out.startswith("here\n") and "usr" not in done.out.split("\n")
    assert done.decision["root_template"] == str(root)
    assert not (root / "etc" / "new").exists()
    assert stat.S_ISDIR(os.stat(root).st_mode) and sorted(os.listdir(root)) == ["bin", "etc"]


def test_a_root_that_is_not_there_is_refused(paddock):
    paddock.sh("true", "--rootfs", "/nonexistent").refused("/nonexistent")
