"""Policy as text: [[egress.rule]] and [[credential]]."""
import json

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def rule(**keys):
    """One [[egress.rule]]."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in {"action": "allow", **keys}.items()]
    return "[[egress.rule]]\n" + "\n".join(lines) + "\n"


def credential(**keys):
    keys = {"name": "token", "from": "env:TOKEN", "env": "TOKEN", **keys}
    return "[[credential]]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in keys.items()) + "\n"
