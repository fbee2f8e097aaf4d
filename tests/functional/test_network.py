"""No egress: loopback only, everything fails at once, and the denials name what was tried."""
import socket
import subprocess
import threading

import pytest

from support.program import GUESTS

AT_ONCE_MS = 3000  # a time-out of a resolver or of TCP is longer


def reached(done):
    word, took = done.ok().out.split()
    assert int(took) < AT_ONCE_MS, f"not at once: {took} ms"
    return word


@pytest.mark.parametrize(
    "how,address",
    [
        ("tcp", "203.0.113.7"),
        ("tcp", "169.254.169.254"),
        ("tcp", "10.0.0.1"),
        ("tcp6", "2001:db8::1"),
        ("udp", "203.0.113.7"),
        ("udp6", "2001:db8::1"),
    ],
)
def test_an_address_outside_fails_at_once_and_is_named(paddock, how, address):
    done = paddock.guest("reach", how, address, "443")
    assert reached(done) != "ok"
    assert done.denied("network", address), done
    denial = done.denied("network", address)[0]
    assert denial["what"] == f"{how[:3]} {address}:443" or address in denial["what"]
    assert denial["rule"] and denial["count"] >= 1


def test_a_name_fails_at_once_and_is_named(paddock):
    script = (
        "import socket, time\nt = time.time()\n"
        "try: socket.getaddrinfo('exfiltrate.example.com', 443)\n"
        "except socket.gaierror as e: print(type(e).__name__, time.time() - t < 3)"
    )
    done = paddock.run("python3", "-c", script).ok()
    assert done.out == "gaierror True\n"
    assert done.denied("name", "exfiltrate.example.com"), done


def test_real_clients_fail_at_once(paddock):
    done = paddock.sh("git ls-remote https://git.example.com/x.git; test $? != 0 && echo failed")
    assert done.out == "failed\n"
    assert done.denied("name", "git.example.com")


def test_loopback_works(paddock):
    script = """
import socket, threading
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    server = socket.socket(family); server.bind((address, 0)); server.listen()
    threading.Thread(target=lambda: server.accept()[0].sendall(b'hi'), daemon=True).start()
    client = socket.create_connection(server.getsockname()[:2]); print(client.recv(2))
print(socket.create_connection(('localhost', server.getsockname()[1])).getpeername()[0])
"""
    done = paddock.run("python3", "-c", script)
    assert done.ok().out.splitlines()[:2] == ["b'hi'", "b'hi'"]


def test_udp_on_loopback_works(paddock):
    script = (
        "import socket\na = socket.socket(type=socket.SOCK_DGRAM); a.bind(('127.0.0.1', 0))\n"
        "b = socket.socket(type=socket.SOCK_DGRAM); b.sendto(b'x', a.getsockname()); print(a.recv(9))"
    )
    assert paddock.run("python3", "-c", script).ok().out == "b'x'\n"


def test_localhost_resolves_without_a_denial(paddock):
    done = paddock.sh("getent ahosts localhost | head -1").ok()
    assert "127.0.0.1" in done.out or "::1" in done.out
    assert done.denials == []


def test_services_of_the_host_are_not_reachable_over_loopback(paddock):
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    thread = threading.Thread(target=lambda: server.accept(), daemon=True)
    thread.start()
    done = paddock.guest("reach", "tcp", "127.0.0.1", str(port))
    assert reached(done) == "ECONNREFUSED"
    socket.create_connection(("127.0.0.1", port)).close()  # the twin: outside it is there
    server.close()


def test_a_ping_and_a_raw_socket_fail_at_once(paddock):
    script = (
        "import socket\n"
        "for kind, proto in ((socket.SOCK_RAW, 1), (socket.SOCK_DGRAM, 1)):\n"
        "  try:\n    s = socket.socket(socket.AF_INET, kind, proto); s.settimeout(2); s.sendto(b'x' * 8, ('203.0.113.7', 0)); print('sent')\n"
        "  except OSError as e: print('refused')"
    )
    assert paddock.run("python3", "-c", script).ok().out == "refused\nrefused\n"


def test_a_run_without_network_use_has_no_denials(paddock):
    assert (
        paddock.sh("git status >/dev/null; python3 -c 'print(1)'; ls -l / >/dev/null").ok().denials
        == []
    )


def test_equal_denials_are_one_record_with_a_count(paddock):
    done = paddock.sh(
        "for i in 1 2 3 4 5; do /guests/reach tcp 203.0.113.9 80; done",
        "--mount",
        f"{GUESTS}:/guests:ro",
    )
    records = done.ok().denied("network", "203.0.113.9")
    assert len(records) == 1 and records[0]["count"] == 5


def test_a_flood_of_denials_is_bounded(paddock):
    script = (
        "import socket\nfor i in range(3000):\n  try: socket.create_connection(('203.0.113.%d' % (i % 250), 1000 + i))\n"
        "  except OSError: pass"
    )
    done = paddock.run("python3", "-c", script).ok()
    assert len(done.denials) <= 2000
    assert len(done.denials) + done.outcome["denials_dropped"] >= 1000


def test_the_decision_says_that_there_is_no_egress(paddock):
    assert paddock.sh("true").ok().control("network") == "enforced"


def test_no_interface_but_loopback(paddock):
    assert paddock.sh(
        "ls /sys/class/net 2>/dev/null || cut -d: -f1 /proc/net/dev | tail -n +3"
    ).ok().out.split() == ["lo"]


def test_abstract_and_path_sockets_of_the_host_are_not_reachable(paddock, base):
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"\0paddock-test-{base.name}")
    server.listen()
    assert (
        reached(paddock.guest("reach", "abstract", f"paddock-test-{base.name}")) == "ECONNREFUSED"
    )
    twin = subprocess.run(
        [GUESTS / "reach", "abstract", f"paddock-test-{base.name}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert twin.stdout.startswith("ok")
    server.close()
