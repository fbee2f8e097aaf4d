"""What an operator writes and reads."""
import json
import re


def write_settings(paddock, text):
    folder = paddock.home / ".config" / "paddock"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.toml").write_text(text)


def metrics(daemon, headers=None):
    """Name with labels -> value."""
    status, text, answered = daemon.request("GET", "/metrics", headers=headers)
    assert status == 200, text
    assert answered["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = text.decode().splitlines()
    values = {}
    for line in lines:
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram))", line), line
            continue
        name, value = line.rsplit(" ", 1)
        assert re.fullmatch(r'\w+(\{(\w+="[^"]*",?)+\})?', name), line
        values[name] = float(value)
    return values


def audit(paddock, *options):
    return [json.loads(line) for line in paddock("audit", "show", "--json", *options).ok().out.splitlines()]
