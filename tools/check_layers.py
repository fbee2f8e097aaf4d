#!/usr/bin/python3
"""Checks what the folders below src/ may include and do. Prints each breach; exit 1 when there is one.

  * an include of ours points down in RANKS, or stays in its folder; siblings never include each other
  * the agent uses base, sys and wire alone; wire, which it links, uses base alone
  * includes of ours use quotes and are rooted at src/
  * only sys makes raw system calls
  * only net, egress and api see Asio
"""
import os
import re
import sys
from pathlib import Path

# Lower layers first; layers of one row are siblings.
RANKS = [
    ["base"],
    ["sys"],
    ["model"],
    ["store"],
    ["policy", "wire", "net"],
    ["image", "view", "isolation", "egress", "service"],
    ["engine"],
    ["api"],
    ["cmd"],
]
# Layers that may use less than everything below them.
NARROWER = {"agent": {"base", "sys", "wire"}, "ssh": {"base", "sys", "wire"}, "wire": {"base"}, "model": {"base"}}
ASIO_LAYERS = {"net", "egress", "api"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ASIO = re.compile(r"^boost/(asio|beast)[/.]")
RAW_SYSCALL = re.compile(r"(?<![\w.>])(?:::)?syscall\s*\(")
COMMENT_OR_STRING = re.compile(r'//.*|"(?:\\.|[^"\\])*"')


def allowed_layers():
    table, below = {}, set()
    for row in RANKS:
        for layer in row:
            table[layer] = below | {layer}
        below = below | set(row)
    for layer, uses in NARROWER.items():
        table[layer] = uses | {layer}
    return table


def check_include(layer, bracket, target, allowed):
    first = target.split("/")[0]
    if ASIO.match(target) and layer not in ASIO_LAYERS:
        return f"{layer} may not see Asio: only {', '.join(sorted(ASIO_LAYERS))} do"
    if bracket == "<":
        return None
    if first not in allowed:
        if "/" not in target or not (Path("src") / target).exists():
            return f'"{target}" is not rooted at src/ (third-party and system headers use <>)'
        return f"unknown layer {first}: give it a row in RANKS"
    if first not in allowed[layer]:
        return f"{layer} may not include {first} (it may: {', '.join(sorted(allowed[layer]))})"
    return None


def check_file(path, layer, allowed):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            breach = check_include(layer, include[1], include[2], allowed)
            if breach:
                yield f"{path}:{number}: {breach}"
        elif layer != "sys" and RAW_SYSCALL.search(COMMENT_OR_STRING.sub("", line)):
            yield f"{path}:{number}: raw system call outside sys: give it a wrapper in src/sys"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    os.chdir(root)
    allowed = allowed_layers()
    breaches, files = [], 0
    for folder in sorted(p for p in Path("src").iterdir() if p.is_dir()):
        if folder.name not in allowed:
            breaches.append(f"{folder}: unknown layer: give it a row in RANKS")
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cc", ".c"):
                files += 1
                breaches += check_file(path, folder.name, allowed)
    print(*breaches, sep="\n", end="\n" if breaches else "")
    print(f"layers: {files} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
