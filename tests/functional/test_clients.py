"""Clients that bring their own stack (gRPC, libpq, Java, Go, AWS signatures) against real servers: with TLS
passed through, and with TLS opened by the gate. No proxy variable, no option of the client but its trust."""
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from support.host import needs
from support.internet import ROOT, SERVER
from test_egress import events, rule

GRPC = """
import os, sys, grpc
trusted = open(sys.argv[1], "rb").read()
channel = grpc.secure_channel("g.example:50051", grpc.ssl_channel_credentials(trusted))
say = channel.unary_unary("/test.Echo/Say")
answer, call = say.with_call(b"hello", timeout=20)
print(answer.decode(), dict(call.trailing_metadata())["served-by"])
print(len(list(channel.unary_stream("/test.Echo/Count")(b"500", timeout=20))))
print(channel.stream_unary("/test.Echo/Total")((b"x" * 10000 for _ in range(200)), timeout=20).decode())
try:
    channel.unary_unary("/test.Echo/Fail")(b"", timeout=20)
except grpc.RpcError as error:
    print(error.code().name, error.details())
"""
ANSWERS = "echo hello nobody test\n500\n2000000\nNOT_FOUND no such thing\n"


def has_grpc():
    done = subprocess.run(["/usr/bin/python3", "-c", "import grpc"], capture_output=True)
    return done.returncode == 0


@pytest.mark.parametrize("tls", ["passed through", "opened"])
def test_grpc_keeps_streams_trailers_and_status(online, tls):
    needs("grpc", has_grpc(), "python3-grpcio is not installed")
    paddock = online(["g.example"])
    paddock.internet.serve("grpc")
    opened = tls == "opened"
    paddock.policy(rule(hosts=["g.example"], ports=["50051"], **({"protocol": "https", "methods": ["POST"]}
                                                                if opened else {})))
    trust = "/run/paddock/ca.pem" if opened else "/servers.pem"
    done = paddock.run("/usr/bin/python3", "-c", GRPC, trust, options=paddock.trusting).ok()
    assert done.out == ANSWERS, done
    seen = {e["path"] for e in events(done, kind="request", protocol="h2")}
    assert seen == ({f"/test.Echo/{m}" for m in ("Say", "Count", "Total", "Fail")} if opened else set())


def test_psql_reaches_a_real_server(online, base):
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    needs("postgresql", programs and os.path.exists(f"{programs[-1]}/initdb"), "not installed")
    paddock = online(["db.example", "other.example"])
    data = base / "pg"
    data.mkdir()
    # The server wants to be no root: nobody on the machine, the user himself in a namespace.
    become = (["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if ROOT else
              ["unshare", "-U", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}"])
    for name in ("chain", "key"):
        shutil.copy(getattr(paddock.internet, name), data.parent / f"pg.{name}")
    if ROOT:
        for path in (data, base / "pg.chain", base / "pg.key"):
            os.chown(path, 65534, 65534)
    (base / "pg.key").chmod(0o600)
    subprocess.run([*(become if ROOT else []), f"{programs[-1]}/initdb", "-A", "trust", "-U", "agent", "-N", data],
                   check=True, capture_output=True, cwd="/")
    with open(data / "pg_hba.conf", "a") as rules:
        rules.write("hostssl all all all trust\n")
    paddock.internet.spawn(
        [*become, f"{programs[-1]}/postgres", "-D", data, "-c", f"listen_addresses={SERVER}", "-c", "fsync=off",
         "-c", "unix_socket_directories=", "-c", "ssl=on", "-c", f"ssl_cert_file={base}/pg.chain",
         "-c", f"ssl_key_file={base}/pg.key"], until="ready to accept connections")
    script = f"""
export PGSSLMODE=verify-full PGSSLROOTCERT=/servers.pem PGUSER=agent PGDATABASE=postgres PGCONNECT_TIMEOUT=20
psql() {{ {programs[-1]}/psql -XAtq "$@"; }}
psql -h db.example -c 'select sum(n) from generate_series(1, 100000) n'
psql -h db.example -c "select repeat('x', 3000000)" | wc -c
psql -h other.example -c 'select 1' 2>&1 | grep -o 'could not translate host name' || exit 1
"""
    done = paddock.sh(script, "--allow", "db.example:5432", *paddock.trusting).ok()
    assert done.out == "5000050000\n3000001\ncould not translate host name\n", done
    assert {e["protocol"] for e in events(done, kind="connection", host="db.example")} == {"tcp"}
    assert done.denied("name", "other.example")


JAVA = """
import java.io.*; import java.net.*; import javax.net.ssl.*;
public class Get {
  public static void main(String[] words) throws Exception {
    HttpsURLConnection c = (HttpsURLConnection) new URL(words[0]).openConnection();
    int status = c.getResponseCode();
    InputStream in = status < 400 ? c.getInputStream() : c.getErrorStream();
    System.out.println(status + " " + new String(in.readAllBytes()).contains(words[1]));
  }
}
"""


def javas():
    return sorted({os.path.realpath(path) for path in glob.glob("/usr/lib/jvm/*/bin/java")})


def test_java_trusts_the_gate_by_its_own_store(online, base):
    needs("java", javas() and shutil.which("javac"), "no JDK is installed")
    paddock = online(["j.example"])
    source = paddock.workspace / "Get.java"
    source.write_text(JAVA)
    subprocess.run(["javac", "--release", "11", "-d", paddock.workspace, source], check=True, capture_output=True)
    paddock.policy(rule(hosts=["j.example"], methods=["GET"], paths=["/ok/*"]))
    script = "".join(
        f"{java} -XX:+UseSerialGC Get https://j.example/ok/1 /ok/1\n"
        f"{java} -XX:+UseSerialGC Get https://j.example/other rule\n" for java in javas())
    done = paddock.sh(script, "--memory", "3G").ok()
    assert done.out == "200 true\n403 true\n" * len(javas()), done
    assert events(done, kind="request", verdict="denied", path="/other")


GO = """
package main
import ("fmt"; "io"; "net/http"; "os")
func main() {
  for _, url := range os.Args[1:] {
    answer, err := http.Get(url)
    if err != nil { fmt.Println("error", err); continue }
    body, _ := io.ReadAll(answer.Body)
    fmt.Println(answer.StatusCode, answer.Proto, len(body) > 0)
  }
}
"""


def test_a_static_go_program_needs_no_libc_to_find_its_way(online, base):
    needs("go", shutil.which("go"), "not installed")
    paddock = online(["a.example", "b.example"])
    (base / "main.go").write_text(GO)
    program = paddock.workspace / "get"
    subprocess.run(
        ["go", "build", "-o", program, base / "main.go"], check=True, cwd=base,
        env={"PATH": os.environ["PATH"], "HOME": str(base), "GOCACHE": str(base / "go-cache"), "CGO_ENABLED": "0",
             "GO111MODULE": "off", "GOFLAGS": "-p=2"})
    kind = subprocess.run(["file", "-b", program], capture_output=True, text=True).stdout
    assert "statically linked" in kind or not shutil.which("file"), kind
    paddock.policy(rule(hosts=["a.example"], methods=["GET"]))
    done = paddock.sh("./get https://a.example/x http://a.example/y https://b.example/").ok()
    assert done.out.startswith("200 HTTP/1.1 true\n200 HTTP/1.1 true\nerror "), done
    assert "no such host" in done.out
    assert set(paddock.internet.queries()) == {"a.example"}


AWS = """
import hashlib, http.client, json, os, ssl, sys, time
sys.path.insert(0, "/tests")
from support import sigv4
body = b"object " * 5000
when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
digest = hashlib.sha256(body).hexdigest()
fields = {"host": "s3.example:8443", "x-amz-date": when, "x-amz-content-sha256": digest}
request = {"method": "PUT", "path": "/bucket/a%20b", "query": "x=2&a=1", "fields": fields, "payload": digest}
key = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
sent = {**fields, "Authorization": sigv4.authorization(*key, request, when[:8] + "/eu-west-1/s3/aws4_request")}
connection = http.client.HTTPSConnection("s3.example", 8443, timeout=20)
connection.request("PUT", "/bucket/a%20b?x=2&a=1", body, sent)
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""
KEY_ID, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


def test_a_signed_put_is_signed_again_with_the_key_that_never_enters(online):
    paddock = online(["s3.example"])
    paddock.internet.serve("bucket", id=KEY_ID, secret=SECRET)
    credential = {"name": "aws", "kind": "sigv4", "from": "env:SECRET", "key_id_from": "env:KEY_ID",
                  "env": "AWS_SECRET_ACCESS_KEY", "key_id_env": "AWS_ACCESS_KEY_ID", "hosts": ["s3.example"],
                  "ports": ["8443"]}
    paddock.policy(rule(hosts=["s3.example"], ports=["8443"]) + "[[credential]]\n"
                   + "".join(f"{k} = {json.dumps(v)}\n" for k, v in credential.items()))
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    options = ("--mount", f"{tests}:/tests:ro")
    caller = {"SECRET": SECRET, "KEY_ID": KEY_ID}
    body = hashlib.sha256(b"object " * 5000).hexdigest()
    program = AWS + "print(os.environ['AWS_SECRET_ACCESS_KEY'], os.environ['AWS_ACCESS_KEY_ID'])\n"
    done = paddock.run("/usr/bin/python3", "-c", program, options=options, env=caller).ok()
    first, inside = done.out.splitlines()
    assert first == f"200 kept {body}", done
    assert SECRET not in inside and KEY_ID not in inside and inside.split()[1].startswith("AKIA")
    (event,) = events(done, kind="request", method="PUT")
    assert event["credentials"] == ["aws"]
    # The twin: what the program signs with is worth nothing by itself.
    bare = paddock.internet.run([sys.executable, "-c", AWS.replace("/tests", tests)],
                                {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": inside.split()[0],
                                 "SSL_CERT_FILE": str(paddock.internet.trust)})
    assert bare == "403 the signature is wrong\n"
    # A client of its own making, which hashes nothing into a header.
    curl = paddock.sh(
        'printf %s data > f; curl -sS -m 20 -T f --aws-sigv4 aws:amz:eu-west-1:execute-api '
        '--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" https://s3.example:8443/bucket/c', env=caller).ok()
    assert curl.out == f"kept {hashlib.sha256(b'data').hexdigest()}", curl
