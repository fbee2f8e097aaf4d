#!/usr/bin/python3
"""Checks that what a file has in an anonymous namespace has no double in another file of its library.

The test build compiles several files of a library as one (CMAKE_UNITY_BUILD). Which ones changes with
every new file, so that a double would come up as an error in files that nobody has touched. Overloads
are no doubles, unless their parameters differ by the form of a string alone: then a call might silently
mean the other file's. Reads code as clang-format leaves it: what is in a namespace begins in column 0."""
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{(?:  //.*)?$")
SKIPPED = re.compile(r"^(?:#|//|\}|template|using namespace|namespace \w+ =|friend|extern|static_assert|[A-Z_0-9]+\(|$|\s)")
TYPE = re.compile(r"^(?:struct|class|union|enum|enum class|enum struct) (?:\[\[\w+\]\] )?(\w+)\b(?! \w)")
ALIAS = re.compile(r"^using (\w+) =")
FUNCTION = re.compile(r"(?:^|[\s&*])(\w+)\(")
VALUE = re.compile(r"[\s&*](\w+)(?:\[[^\]]*\])*(?: =|\{|;)")


TEXT = re.compile(r"\b(?:const )?(?:std::string_view|std::string|char ?\*)(?: ?&+)?")


def parameters(text):
    """The types between the parentheses that text begins behind; of those with a default none."""
    depth, at = 1, 0
    while at < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    inside = re.sub(r"\b\w+::", "", TEXT.sub("TEXT", " ".join(text[: at - 1].split())))
    types = re.split(r",(?![^<]*>)", inside)
    return tuple(re.sub(r"(?<=[\w>&*]) ?\b\w+$", "", t.strip()) for t in types if t and " = " not in t)


def declared(lines):
    """What the first of the lines declares: a name, and of a function the types of its parameters too."""
    line = lines[0]
    for form in (TYPE, ALIAS):
        if found := form.match(line):
            return found[1]
    # What comes first tells a function from a variable whose value is a call.
    found = [m for m in (FUNCTION.search(line), VALUE.search(line)) if m]
    if not found:
        return None
    first = min(found, key=lambda m: m.start(1))
    if first.re is VALUE:
        return first[1]
    rest = "\n".join([line[first.end() :], *lines[1:8]])
    return f"{first[1]}({', '.join(parameters(rest))})"


def private_names(path):
    """(namespace, name) -> number and text of the line, of what no other file is to see."""
    names, spaces, raw = {}, [], False
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if raw:
            raw = ')"' not in line
            continue
        raw = 'R"(' in line and ')"' not in line
        if found := NAMESPACE.match(line):
            spaces.append(found[1])
        elif spaces and line.startswith("}  // namespace"):
            spaces.pop()
        elif not SKIPPED.match(line) and ("" in spaces or line.startswith("static ")):
            if name := declared(lines[number - 1 :]):
                names.setdefault(("::".join(filter(None, spaces)), name), (number, line))
    return names


def compiled_together(path):
    """The folder of the library, and which of its programs. A fuzz target is compiled alone."""
    if path.stem.endswith("_fuzz"):
        return path.parts[1], path.stem
    kind = "tests" if path.stem.endswith("_test") else "library"
    return path.parts[1], "testing" if "testing" in path.parts else kind


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    places, texts, files = defaultdict(list), defaultdict(set), 0
    for path in sorted(Path("src").rglob("*.cc")):
        files += 1
        for name, (number, text) in private_names(path).items():
            key = compiled_together(path), name
            places[key].append(f"{path}:{number}")
            texts[key].add(text if ALIAS.match(text) else f"{path}")  # the same alias may be said twice
    doubles = {name: places[key, name] for (key, name), said in texts.items() if len(said) > 1}
    for (space, name), where in doubles.items():
        print(f"{space}::{name} has doubles: {', '.join(where)}")
    print(f"names: {files} files, {len(doubles)} private names with doubles")
    return 1 if doubles else 0


if __name__ == "__main__":
    sys.exit(main())
