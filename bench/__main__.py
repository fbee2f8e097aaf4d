"""Prints the table. python3 -m bench [PART…]"""
import platform
import sys

from . import daemon, memory, network, startup, views, work
from .measure import Row, print_row
from .world import World

PARTS = {"startup": startup, "views": views, "work": work, "memory": memory, "network": network, "daemon": daemon}


def main():
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        sys.exit(f"bench: no part {unknown[0]}; there are: {' '.join(PARTS)}")
    print(f"kernel {platform.release()}, medians of alternating rounds; ratio = ours / peer")
    missed = 0
    with World() as world:
        for name in wanted:
            try:
                for row in PARTS[name].rows(world):
                    print_row(row)
                    missed += row.met is False
            except (RuntimeError, OSError) as error:
                print_row(Row.missing(name, str(error)))
    print(f"targets missed: {missed}")


if __name__ == "__main__":
    main()
