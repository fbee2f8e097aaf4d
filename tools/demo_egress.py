"""Part of the demo: three calls to servers in a network namespace of the demo's own. Argument: a folder."""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from support.internet import Internet, OnlinePaddock  # noqa: E402

TOKEN = "ghp_thisIsTheRealSecretOfThisDemo0123456"
POLICY = """[[egress.rule]]
action = "allow"
hosts = ["api.example"]
methods = ["GET"]

[[credential]]
name = "api"
from = "env:API_TOKEN"
env = "API_TOKEN"
hosts = ["api.example"]
"""
SCRIPT = """
echo "allowed:      $(curl -sS https://api.example/status | head -c 60) ..."
echo "denied:       $(curl -sS https://exfiltration.example/ 2>&1)"
echo "denied:       $(curl -sS -X POST -d x https://api.example/status)"
echo "inside:       API_TOKEN=$API_TOKEN"
curl -sS -o /dev/null -H "Authorization: Bearer $API_TOKEN" https://api.example/user
"""


def main():
    top = Path(sys.argv[1])
    base = top / "egress"
    workspace = base / "work"
    (base / "home").mkdir(parents=True)
    workspace.mkdir()
    internet = Internet(base, ["api.example", "exfiltration.example"])
    try:
        paddock = OnlinePaddock(base, workspace, internet)
        paddock.policy(POLICY)
        done = paddock.sh(SCRIPT, env={"API_TOKEN": TOKEN}).ok()
        print(done.out, end="")
        received = internet.requests()[-1]["headers"]["Authorization"]
        print(f"the server:   Authorization: {received}")
        print("on record:")
        for event in done.report["network"]["events"]:
            what = f"{event['method']} {event['host']}{event['path']}".strip()
            with_ = " with credential " + ", ".join(event["credentials"]) if event["credentials"] else ""
            print(f"  {event['verdict']:8} {what}{with_}, rule {event['rule']}")
        secret_is_inside = TOKEN in done.out + json.dumps(done.report)
        asked = "exfiltration.example" in internet.queries()
        return 1 if received != f"Bearer {TOKEN}" or secret_is_inside or asked else 0
    finally:
        internet.close()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"demo_egress: {error}")
