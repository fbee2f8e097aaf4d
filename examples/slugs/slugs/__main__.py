import sys

from .registry import Registry

registry = Registry()
for title in sys.argv[1:] or (line.rstrip("\n") for line in sys.stdin):
    print(registry.claim(title))
