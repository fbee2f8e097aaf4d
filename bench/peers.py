"""The peers of start-up: command lines that run /bin/true in their own kind of container."""
import json
import os
import shutil
import subprocess
import time

from .measure import Command

BWRAP = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
         "--unshare-all", "--die-with-parent", "true"]  # fmt: skip


def make_bundle(world):
    """An OCI bundle whose root holds busybox alone."""
    bundle = world.folder("bundle")
    binaries = bundle / "rootfs" / "bin"
    binaries.mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), binaries / "busybox")
    for applet in ("sh", "true", "sleep", "seq", "xargs", "touch", "mkdir"):
        (binaries / applet).symlink_to("busybox")
    subprocess.run(["runc", "spec"], cwd=bundle, check=True)
    config = json.loads((bundle / "config.json").read_text())
    config["process"]["terminal"] = False
    config["process"]["args"] = ["/bin/true"]
    (bundle / "config.json").write_text(json.dumps(config))
    return bundle


def oci(world, bundle, runtime):
    """A function that runs the bundle once under a fresh id and returns the seconds."""
    state, number = world.folder(f"state-{runtime}"), 0

    def run():
        nonlocal number
        number += 1
        argv = [runtime, "--root", str(state), "run", f"paddock-bench-{os.getpid()}-{number}"]
        return Command(argv, cwd=str(bundle)).seconds()

    return run


class Docker:
    """A dockerd of our own, below the bench's folder, without bridge and firewall rules."""

    def __init__(self, world, bundle):
        self.folder = world.folder("docker")
        self.env = {**os.environ, "DOCKER_HOST": f"unix://{self.folder}/sock"}
        self.log = open(self.folder / "log", "wb")
        argv = ["dockerd", "--data-root", f"{self.folder}/data", "--exec-root", f"{self.folder}/exec",
                "--host", f"unix://{self.folder}/sock", "--pidfile", f"{self.folder}/pid",
                "--iptables=false", "--ip6tables=false", "--bridge=none"]  # fmt: skip
        self.daemon = subprocess.Popen(argv, stdout=self.log, stderr=self.log)
        self._wait()
        tar = subprocess.Popen(["tar", "-C", bundle / "rootfs", "-c", "."], stdout=subprocess.PIPE)
        subprocess.run(["docker", "import", "-", "paddock-bench"], stdin=tar.stdout, env=self.env,
                       check=True, capture_output=True)  # fmt: skip
        tar.wait()

    def _wait(self):
        for _ in range(300):
            if (
                subprocess.run(["docker", "info"], env=self.env, capture_output=True).returncode
                == 0
            ):
                return
            if self.daemon.poll() is not None:
                break
            time.sleep(0.1)
        self.stop()
        raise RuntimeError("dockerd did not start: " + (self.folder / "log").read_text()[-400:])

    def command(self):
        argv = ["docker", "run", "--rm", "--network", "none", "paddock-bench", "/bin/true"]
        return Command(argv, env=self.env)

    def does(self, *args):
        return Command(["docker", *args], env=self.env)

    def start(self):
        """The name of a container that stays until it is removed."""
        name = f"paddock-bench-{os.getpid()}"
        self.does("run", "-d", "--name", name, "--network", "none", "paddock-bench",
                  "/bin/sleep", "3600").seconds()  # fmt: skip
        return name

    def stop(self):
        self.daemon.terminate()
        self.daemon.wait()
        self.log.close()
        mounts = [line.split()[1] for line in open("/proc/self/mounts") if str(self.folder) in line]
        for mount in reversed(mounts):
            subprocess.run(["umount", "-l", mount], check=False)
