"""`paddock run true` against the peers."""
from .measure import Command, Row, in_turn
from .peers import BWRAP, Docker, make_bundle, oci

ROUNDS = 40


def rows(world):
    workspace = world.folder("start/work", world.user)
    if world.is_root:
        yield from as_root(world, world.folder("start-root/work"))
    else:
        yield Row.missing("run true, as root", "needs root, as do crun, runc and docker")
    ours = world.paddock("run", "-q", "--", "true", cwd=workspace, who="user",
                         user=world.user if world.is_root else None)  # fmt: skip
    none = world.paddock("run", "-q", "--mode", "none", "--", "true", cwd=workspace, who="user",
                         user=world.user if world.is_root else None)  # fmt: skip
    peer = Command(BWRAP, cwd=str(workspace), user=world.user if world.is_root else None)
    times = in_turn({"paddock": ours, "none": none, "bwrap": peer}, ROUNDS)
    yield Row.ratio(
        "run true / bwrap, as a user, no cgroup", times["paddock"], times["bwrap"], 1.5, "bwrap"
    )
    yield Row.ratio("  the same without a workspace", times["none"], times["bwrap"], None, "bwrap")


def as_root(world, workspace):
    bundle = make_bundle(world)
    candidates = {
        "paddock": world.paddock("run", "-q", "--", "true", cwd=workspace),
        "bwrap": Command(BWRAP, cwd=str(workspace)),
        "crun": oci(world, bundle, "crun"),
        "runc": oci(world, bundle, "runc"),
    }
    docker = None
    try:
        try:
            docker = Docker(world, bundle)
            candidates["docker"] = docker.command()
        except RuntimeError as error:
            yield Row.missing("run true / docker run --rm", str(error))
        times = in_turn(candidates, ROUNDS)
    finally:
        if docker:
            docker.stop()
    v1 = any(line.startswith("cgroup ") for line in open("/proc/self/mounts"))
    note = "cgroup v1 attach" if v1 else "cgroup v2"
    ours = times.pop("paddock")
    for name, peer in times.items():
        target = {"docker": 1 / 20, "bwrap": None if v1 else 1.5}.get(name)
        label = {"bwrap": "bwrap", "docker": "docker run --rm"}.get(name, f"{name} run")
        yield Row.ratio(f"run true / {label}, root, {note}", ours, peer, target, name)
