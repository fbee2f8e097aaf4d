"""Programs of every day do inside what they do outside."""
import os
import shutil
import subprocess

import pytest

from support.host import needs
from support.trees import write


def test_zsh_heredocs(paddock):
    needs("zsh", shutil.which("zsh"), "not installed")
    assert paddock.run("zsh", "-c", "cat <<E\nhello\nE").ok().out == "hello\n"


def test_bash_heredocs_and_process_substitution(paddock):
    assert (
        paddock.run("bash", "-c", "cat <<< here; diff <(echo 1) <(echo 1) && echo same").ok().out
        == "here\nsame\n"
    )


def test_process_pools_and_semaphores(paddock):
    script = (
        "from concurrent.futures import ProcessPoolExecutor\nimport multiprocessing as m\n"
        "def f(x): return x * x\n"
        "if __name__ == '__main__':\n  print(sum(ProcessPoolExecutor(4).map(f, range(10))), m.Lock() is not None)\n"
        "  print(m.get_context('forkserver').Pool(2).map(f, [3]))"
    )
    write(paddock.base, {"home/project/pool.py": script})
    assert paddock.run("python3", "pool.py").ok().out == "285 True\n[9]\n"


def test_asyncio_wakes_across_threads(paddock):
    script = """
import asyncio, threading
async def main():
    loop, event = asyncio.get_running_loop(), asyncio.Event()
    threading.Timer(0.1, lambda: loop.call_soon_threadsafe(event.set)).start()
    await asyncio.wait_for(event.wait(), 20); print('woken')
    p = await asyncio.create_subprocess_exec('echo', 'child', stdout=-1); print((await p.communicate())[0])
asyncio.run(main())
"""
    assert paddock.run("python3", "-c", script).ok().out == "woken\nb'child\\n'\n"


def test_compiling_and_running_a_program(paddock, untouched):
    needs("compiler", shutil.which("gcc") and shutil.which("make"), "not installed")
    script = (
        "printf 'int main(){return 0;}' > a.c && printf 'a: a.c\\n\\tgcc -o a a.c\\n' > Makefile && make -s && "
        "./a && echo built"
    )
    assert paddock.sh(script).ok().out == "built\n"


def test_a_program_under_address_sanitizer_runs(paddock):
    needs("compiler", shutil.which("gcc"), "not installed")
    # Where no cgroup holds limits.memory, RLIMIT_DATA does, and counts the shadow memory: 16 TiB.
    enforced = paddock.run("true").control("limits.memory") == "enforced"
    needs("cgroup-delegation", enforced, "RLIMIT_DATA stands in for the memory limit")
    script = "printf 'int main(){return 0;}' > a.c && gcc -fsanitize=address -o a a.c && ./a && echo ran"
    assert paddock.sh(script).ok().out == "ran\n"


def test_debuggers_trace_their_own_children(paddock):
    needs("strace", shutil.which("strace"), "not installed")
    done = paddock.sh(
        "strace -f -o /tmp/trace sh -c 'true; /bin/echo traced' && grep -c execve /tmp/trace"
    ).ok()
    assert done.out.splitlines()[0] == "traced" and int(done.out.splitlines()[1]) >= 2


def test_node_runs_and_its_test_runner_passes(paddock, repo):
    needs("node", shutil.which("node"), "not installed")
    write(
        repo,
        {
            "sum.test.mjs": "import test from 'node:test'; import assert from 'node:assert';\n"
            "test('adds', () => assert.equal(1 + 1, 2));\n"
        },
    )
    done = paddock.run("node", "--test", "sum.test.mjs").ok()
    assert "# pass 1" in done.out or "pass 1" in done.out


def test_npm_installs_a_local_package_and_runs_its_script(paddock, repo):
    needs("npm", shutil.which("npm"), "not installed")
    write(
        repo,
        {
            "dep/package.json": '{"name": "dep", "version": "1.0.0", "main": "i.js"}',
            "dep/i.js": "module.exports = 7\n",
            "package.json": '{"name": "p", "version": "1.0.0", "dependencies": {"dep": "file:./dep"}, '
            '"scripts": {"test": "node -e \\"process.exit(require(\'dep\') - 7)\\""}}',
        },
    )
    assert paddock.sh(
        "npm install --offline --no-audit --no-fund && npm test", "--timeout", "200"
    ).ok()


def test_a_virtual_environment_works(paddock):
    done = paddock.sh(
        "python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'"
    )
    assert done.ok().out == "True\n"


def test_a_zombie_storm_is_reaped(paddock):
    script = (
        "import os, time\n"
        "for i in range(3000):\n  p = os.fork()\n  if p == 0:\n    if os.fork(): os._exit(0)\n    os._exit(0)\n  os.waitpid(p, 0)\n"
        "time.sleep(1)\nn = 0\n"
        "for d in os.listdir('/proc'):\n  if d.isdigit():\n    try: n += ') Z' in open(f'/proc/{d}/stat').read()\n    except OSError: pass\n"
        "print(n)"
    )
    assert paddock.run("python3", "-c", script).ok().out == "0\n"


def test_a_pipeline_of_many_processes(paddock):
    assert (
        paddock.sh("seq 10000 | sort -R | sort -n | tail -1 | cat | cat | cat").ok().out
        == "10000\n"
    )


def test_sockets_between_own_processes(paddock):
    script = (
        "import socket, os, array\na, b = socket.socketpair()\n"
        "s = socket.socket(socket.AF_UNIX); s.bind('/tmp/s'); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect('/tmp/s')\n"
        "socket.send_fds(c, [b'x'], [a.fileno()]); print(len(socket.recv_fds(s.accept()[0], 1, 1)[1]))"
    )
    assert paddock.run("python3", "-c", script).ok().out == "1\n"


def test_threads_timers_and_epoll(paddock):
    script = (
        "import select, threading, signal, time, os\n"
        "e = select.epoll(); r, w = os.pipe(); e.register(r, select.EPOLLIN); threading.Timer(.05, os.write, (w, b'x')).start()\n"
        "print(len(e.poll(20))); signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, .05); time.sleep(1)"
    )
    assert paddock.run("python3", "-c", script).ok().out == "1\nalarm\n"


def test_old_system_call_fallbacks_work(paddock):
    # clone3 answers ENOSYS: threads, posix_spawn and vfork of every libc fall back.
    script = "import os, threading, subprocess\nt = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\nsubprocess.run(['echo', 'spawned'])"
    assert paddock.run("python3", "-u", "-c", script).ok().out == "thread\nspawned\n"


@pytest.mark.parametrize(
    "command",
    [
        "ls -la /",
        "ps aux",
        "df -h",
        "free",
        "id",
        "date",
        "uname -a",
        "env",
        "find . -maxdepth 1",
        "tar cf - . | tar tf -",
        "du -s .",
        "awk 1 README.md",
        "sed -n 1p README.md",
        "head -1 README.md",
        "xargs echo < README.md",
        "nproc",
        "mktemp -d",
        "sort README.md",
    ],
)
def test_everyday_commands_succeed(paddock, command):
    done = paddock.sh(command)
    assert done.code == 0 and done.denials == [], done


def test_setuid_programs_gain_nothing(paddock):
    done = paddock.sh(
        "cp /bin/cat /tmp/cat && chmod 6755 /tmp/cat; sudo -n true 2>&1; su -c true 2>&1; "
        "grep CapEff /proc/self/status"
    )
    assert "0000000000000000" in done.out


def test_two_hundred_files_can_be_open_from_a_small_ulimit(paddock):
    done = subprocess.run(
        [
            "sh",
            "-c",
            'ulimit -Sn 64; exec "$@"',
            "sh",
            *paddock.argv(
                "run",
                "-q",
                "--",
                "python3",
                "-c",
                "fs = [open('/dev/null') for _ in range(500)]; print(len(fs))",
            ),
        ],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout) == (0, "500\n"), done.stderr


def test_work_at_many_places_at_once_from_a_small_ulimit(paddock):
    script = 'ulimit -Sn 256; for i in $(seq 40); do "$0" run -q -- true & done; wait; echo all'
    done = subprocess.run(
        ["bash", "-c", script, paddock.argv()[0]],
        cwd=paddock.workspace,
        env=paddock.env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert (done.stdout, done.stderr) == ("all\n", "")


def test_crashes_start_no_helper_of_the_host(paddock, repo):
    done = paddock.sh("ulimit -c unlimited; kill -SEGV $$")
    assert done.code == 139
    assert "core" not in os.listdir(repo)
