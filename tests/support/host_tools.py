"""The package tools of the host, as a server asks them which registries they use."""
from support.program import TOP

# What npm says of its settings. The others are there and say nothing of use.
NPM = """#!/bin/sh
echo '{"registry": "https://packages.example/"}'
"""
OTHERS = ["yarn", "python3", "go", "gem", "cargo", "apt-get"]


def quick_tools():
    """A folder for the front of a PATH. The real tools are asked once a server, which takes more of a second
    of processor time than most tests: those whose subject they are have them, the others have these."""
    folder = TOP / "tmp" / "quick-tools"
    if not folder.exists():
        folder.mkdir(mode=0o755)
        for name, script in [("npm", NPM), *((other, "#!/bin/sh\nexit 1\n") for other in OTHERS)]:
            (folder / name).write_text(script)
            (folder / name).chmod(0o755)
    return folder
