#!/usr/bin/python3
"""Checks the documents: links resolve, SPEC.md names tests that exist, folder READMEs keep their form,
and some words appear nowhere in the tree. Prints each breach; exit 1 when there is one."""
import os
import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.M)
CODE_BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
# Hosts that the tree may name. Everything else (package registries first) is looked up by tools.
URL_HOST = re.compile(r"\bhttps?://([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
HOSTS = re.compile(
    r"(^|\.)(apache\.org|kernel\.org|man7\.org|github\.com|example|example\.(com|org|net)"
    r"|localhost|[a-z-]+\.test|[a-z-]+\.invalid|json-schema\.org|\d+(\.\d+){3})$"
)
# What tells of a machine or of how the code came to be, not of the code.
WORDS = re.compile(r"/w[o]rk/|/f[o]rm/|\bT[O]DO\b|\bF[I]XME\b|\bX[X]X\b")
README_PARTS = ["Purpose", "Contract", "May use", "Files", "Traps"]
SPEC_ROW = re.compile(r"^\|\s*(\d+(?:\.\d+)*)\s*\|(.*)\|([^|]*)\|\s*$")
TEST_NAME = re.compile(r"`([^`]+?)::([^`]+)`")


def tracked(*patterns):
    out = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z", *patterns],
        capture_output=True,
        check=True,
    ).stdout
    return [Path(os.fsdecode(name)) for name in out.split(b"\0") if name and os.path.exists(name)]


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def check_links(page):
    text = CODE_BLOCK.sub("", page.read_text())
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, fragment = target.partition("#")
        to = page.parent / file if file else page
        if not to.exists():
            yield f"{page}: link to {target}: no such file"
        elif fragment and to.suffix == ".md":
            if fragment not in {anchor(h) for h in HEADING.findall(to.read_text())}:
                yield f"{page}: link to {target}: no such heading"


def has_test(file, name):
    path = Path(file)
    if not path.exists():
        return False
    text = path.read_text()
    if path.suffix == ".py":
        return re.search(rf"^\s*def {re.escape(name)}\(", text, re.M) is not None
    suite, _, test = name.partition(".")
    return (
        re.search(
            rf"^(TYPED_)?TEST(_F|_P)?\(\s*{re.escape(suite)},\s*{re.escape(test)}\)", text, re.M
        )
        is not None
    )


def check_spec(page):
    seen = set()
    for number, line in enumerate(page.read_text().splitlines(), 1):
        row = SPEC_ROW.match(line)
        if not row:
            continue
        if row[1] in seen:
            yield f"{page}:{number}: promise {row[1]} stands twice"
        seen.add(row[1])
        tests = TEST_NAME.findall(row[3])
        if not tests and not row[3].strip().startswith("pending"):
            yield f"{page}:{number}: promise {row[1]} names no test and is not pending"
        for file, name in tests:
            if not has_test(file, name):
                yield f"{page}:{number}: promise {row[1]}: no test {name} in {file}"


def check_readmes():
    for folder in sorted(p for p in Path("src").iterdir() if p.is_dir()):
        readme = folder / "README.md"
        if not readme.exists():
            yield f"{folder}: no README.md ({' · '.join(README_PARTS)})"
            continue
        text = readme.read_text()
        lines = text.count("\n")
        if lines > 50:
            yield f"{readme}: {lines} lines, 50 at most"
        yield from (f"{readme}: no part '{part}'" for part in README_PARTS if part not in text)


def check_words():
    for path in tracked():
        try:
            text = path.read_text()
        except (UnicodeDecodeError, IsADirectoryError):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            word = WORDS.search(line)
            if word:
                yield f"{path}:{number}: '{word[0]}' does not belong in the tree"
            for host in URL_HOST.findall(line):
                if not HOSTS.search(host.rstrip(".")) and path.name != "LICENSE":
                    yield f"{path}:{number}: names the host {host} (allowed: HOSTS in {sys.argv[0]})"


def main():
    os.chdir(Path(__file__).resolve().parent.parent)
    pages = tracked("*.md")
    breaches = [b for page in pages for b in check_links(page)]
    if Path("SPEC.md").exists():
        breaches += check_spec(Path("SPEC.md"))
    breaches += check_readmes()
    breaches += check_words()
    print(*breaches, sep="\n", end="\n" if breaches else "")
    print(f"documents: {len(pages)} pages, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
