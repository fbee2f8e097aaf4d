"""The unmodified npm packages that tests use as clients.

npm_packages.py FOLDER   installs each set below FOLDER, once for all suites of a run (tests/CMakeLists.txt)
"""
import shutil
import subprocess
import sys
from pathlib import Path

E2B = ["2.51.0", "2.46.0"]  # the second makes sandboxes by the older calls
SETS = [
    *((f"e2b@{version}",) for version in E2B),
    ("e2b@2.51.0", "ws@8.18.0"),
    ("e2b@2.51.0", "@e2b/code-interpreter@2.8.0"),
]
REFUSED = "refused"  # the file that says why a set could not be installed


def name_of(packages):
    return "npm-" + "-".join(p.replace("/", "_").replace("@", "_") for p in packages)


def install(folder, packages, cache):
    """Into folder/node_modules, from the registry."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--cache", cache]
    done = subprocess.run([*command, *packages], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(folder / "node_modules", ignore_errors=True)
        (folder / REFUSED).write_text(done.stderr[-300:])


def main():
    top = Path(sys.argv[1])
    for packages in SETS:
        folder = top / name_of(packages)
        (folder / REFUSED).unlink(missing_ok=True)
        if (folder / "node_modules").exists():
            continue
        try:
            install(folder, packages, top / "cache")
        except FileNotFoundError:
            print("npm is not installed: the tests that need it say so")
            return
        print(f"{folder.name}: {'refused' if (folder / REFUSED).exists() else 'installed'}")


if __name__ == "__main__":
    main()
