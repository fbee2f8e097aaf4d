"""A terminal when stdin is one: size, resize, Ctrl-C, job control; clean pipes otherwise."""
import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from support.program import PATIENCE, ended


class Terminal:
    """A paddock run under a terminal of 97 columns and 31 rows."""

    def __init__(self, paddock, *command, options=()):
        self.master, slave = pty.openpty()
        self.resize(31, 97)
        self.process = subprocess.Popen(
            paddock.argv("run", "-q", *options, "--", *command),
            cwd=paddock.workspace,
            env={**paddock.env, "TERM": "xterm"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.slave = slave
        self.seen = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, data):
        os.write(self.master, data)

    def read_until(self, wanted):
        end = time.monotonic() + PATIENCE
        while wanted not in self.seen and time.monotonic() < end:
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.master, 65536)
                except OSError as error:
                    if error.errno != errno.EIO:
                        raise
                    break
        assert wanted in self.seen, self.seen
        return self.seen

    def status(self):
        try:
            return ended(self.process)
        finally:
            os.close(self.slave)
            while select.select([self.master], [], [], 0)[0]:
                try:
                    self.seen += os.read(self.master, 65536)
                except OSError:
                    break
            os.close(self.master)


@pytest.fixture
def terminal(paddock):
    made = []

    def make(*command, **how):
        made.append(Terminal(paddock, *command, **how))
        return made[-1]

    yield make
    for each in made:
        if each.process.poll() is None:
            os.killpg(each.process.pid, signal.SIGKILL)
            each.process.wait()


def test_the_command_has_a_terminal_of_the_callers_size(terminal):
    tty = terminal("sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size")
    tty.read_until(b"31 97")
    assert tty.status() == 0


def test_a_resize_reaches_the_command(terminal):
    tty = terminal(
        "sh", "-c", "trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.1; done"
    )
    tty.read_until(b"ready")
    tty.resize(40, 120)
    tty.process.send_signal(signal.SIGWINCH)
    tty.read_until(b"40 120")
    assert tty.status() == 5


def test_control_c_interrupts_the_command_and_not_paddock(terminal):
    tty = terminal(
        "sh", "-c", "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.1; done"
    )
    tty.read_until(b"ready")
    tty.send(b"\x03")
    tty.read_until(b"caught")
    assert tty.status() == 9


def test_control_c_without_a_handler_is_130(terminal):
    # exec: dash itself loses an interrupt that comes while it forks.
    tty = terminal("sh", "-c", "echo ready; exec sleep 1000")
    tty.read_until(b"ready")
    tty.send(b"\x03")
    assert tty.status() == 130


def test_control_d_is_end_of_file(terminal):
    tty = terminal("sh", "-c", "echo ready; cat; echo ended")
    tty.read_until(b"ready")
    tty.send(b"line\n")
    tty.read_until(b"line\r\n")
    tty.send(b"\x04")
    tty.read_until(b"ended")
    assert tty.status() == 0


def test_job_control_works_in_a_shell(terminal):
    tty = terminal("bash", "--norc", "-i", options=("--env", "PS1=prompt> "))
    tty.read_until(b"prompt> ")
    tty.send(b"sh -c 'echo start''ed; exec sleep 1000'\n")
    tty.read_until(b"started")
    tty.send(b"\x1a")
    tty.read_until(b"Stopped")
    # A shell that has not seen the job's end yet refuses to leave once, and leaves when told again.
    tty.send(b"jobs; kill -9 %1; wait\nexit 6\nexit 6\n")
    assert tty.status() == 6


def test_the_callers_terminal_is_as_it_was_afterwards(terminal, paddock):
    tty = terminal("sh", "-c", "stty raw -echo; echo set")
    tty.read_until(b"set")
    ended(tty.process)
    local_modes = termios.tcgetattr(tty.slave)[3]
    assert local_modes & termios.ECHO and local_modes & termios.ICANON
    tty.status()


def test_the_terminal_is_the_sandboxes_own(terminal):
    tty = terminal(
        "sh", "-c", "tty; test -c $(tty) && echo there; ls /dev/pts; echo typed > /dev/tty"
    )
    tty.read_until(b"typed")
    assert b"/dev/pts/0" in tty.seen and b"there" in tty.seen
    assert tty.status() == 0


def test_without_a_terminal_the_command_gets_clean_pipes(paddock):
    done = paddock.sh(
        "test -t 0 || echo no input; test -t 1 || echo no output; printf 'a\\nb\\n'"
    ).ok()
    assert done.out_bytes == b"no input\nno output\na\nb\n"


def test_output_redirected_from_a_terminal_is_a_clean_pipe(paddock):
    master, slave = pty.openpty()
    process = paddock.start(
        "run", "-q", "--", "printf", "a\\nb\\n", stdin=slave, stdout=subprocess.PIPE
    )
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(master), os.close(slave)
    assert out == b"a\nb\n"


def test_a_terminal_that_hangs_up_ends_the_run(terminal):
    tty = terminal("sh", "-c", "echo ready; sleep 1000")
    tty.read_until(b"ready")
    os.close(tty.slave)
    os.close(tty.master)
    assert ended(tty.process) != 0
    tty.master, tty.slave = pty.openpty()
    tty.status()
