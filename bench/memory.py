"""The agent's private memory, read from the host while two sandboxes run."""
import os
import subprocess
import time

from .measure import Row


def agents():
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if open(f"/proc/{pid}/comm").read().strip().startswith("paddock-agent"):
                found.add(pid)
        except OSError:
            pass
    return found


def private_kib(pid):
    total = 0
    for line in open(f"/proc/{pid}/smaps_rollup"):
        if line.startswith("Private_"):
            total += int(line.split()[1])
    return total


def rows(world):
    workspace, before = world.folder("memory/w"), agents()
    running = []
    for _ in range(2):
        command = world.paddock("run", "-q", "--", "sleep", "3", cwd=workspace)
        running.append(
            subprocess.Popen(
                command.argv, cwd=command.cwd, env=command.env, stdin=subprocess.DEVNULL
            )
        )
    time.sleep(1.5)
    try:
        kib = [private_kib(pid) for pid in sorted(agents() - before)]
    finally:
        for process in running:
            process.wait()
    if not kib:
        yield Row.missing("agent private memory", "no process named paddock-agent was found")
        return
    # One process of the agent a sandbox, and one subreaper for each command: the sum is the cost.
    each = sum(kib) / 2
    yield Row(
        "agent private memory, a sandbox with one command",
        f"{each:.0f} KiB in {len(kib) // 2} processes",
        "< 2048 KiB",
        each < 2048,
    )
