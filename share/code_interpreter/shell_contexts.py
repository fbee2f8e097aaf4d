"""bash and JavaScript: one process each that lives on, given a piece of code at a time.

What it prints comes by its pipes; that a piece has ended, and how, by a descriptor of its own.
"""
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

from contexts import Context, ContextError, error_line, stamp

HERE = os.path.dirname(os.path.abspath(__file__))
INTERRUPT_SECONDS = 5
READ = 65536
CONTROL = 9  # its number in the process


class PipedContext(Context):
    """A process with a control descriptor; begin(code, environment) hands it a piece."""

    def argv(self):
        raise NotImplementedError

    def begin(self, code, environment):
        raise NotImplementedError

    def start(self):
        self.count = 0
        self.close_pipes()
        self.interrupted_at = None
        self.folder = tempfile.mkdtemp(prefix="context-")
        control, theirs = os.pipe()
        os.set_inheritable(theirs, True)

        def place():
            os.setsid()
            os.dup2(theirs, CONTROL)

        self.process = subprocess.Popen(
            self.argv(), cwd=self.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            pass_fds=(theirs, CONTROL), preexec_fn=place)
        os.close(theirs)
        self.control = control
        for descriptor in (control, self.process.stdout.fileno(), self.process.stderr.fileno()):
            os.set_blocking(descriptor, False)

    def close_pipes(self):
        """Of the process before."""
        if getattr(self, "process", None) is None:
            return
        os.close(self.control)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self.process = None

    def run(self, code, environment, outputs):
        self.count += 1
        outputs.put({"type": "number_of_executions", "execution_count": self.count})
        self.interrupted_at = None
        try:
            self.begin(code, environment)
            end = self.carry(outputs)
        except BrokenPipeError:
            end = None
        if end is None:
            outputs.put(error_line("ProcessEnded", f"{self.language} ended; its state is gone"))
            if not self.closed:
                self.kill()
                self.start()
            return
        for line in self.lines_of(end):
            outputs.put(line)

    def carry(self, outputs):
        """Output until the piece has ended; what the process said of its end, None when it died."""
        streams = {self.process.stdout.fileno(): "stdout", self.process.stderr.fileno(): "stderr"}
        rest = {name: b"" for name in streams.values()}
        said = b""
        with selectors.DefaultSelector() as selector:
            for descriptor in (self.control, *streams):
                selector.register(descriptor, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select(0.5):
                    if key.fd == self.control:
                        piece = read_some(self.control)
                        if piece == b"":
                            return self.finish(streams, rest, outputs)
                        said += piece or b""
                    elif not self.pass_on(key.fd, streams[key.fd], rest, outputs):
                        selector.unregister(key.fd)
                if said.endswith(b"\n"):
                    self.finish(streams, rest, outputs)
                    return json.loads(said)
                late = self.interrupted_at and time.monotonic() - self.interrupted_at > INTERRUPT_SECONDS
                if late or self.process.poll() is not None:
                    return self.finish(streams, rest, outputs)

    def finish(self, streams, rest, outputs):
        """What was printed before the end is in the pipes already."""
        for descriptor, name in streams.items():
            while self.pass_on(descriptor, name, rest, outputs):
                pass
            if rest[name]:
                outputs.put({"type": name, "text": rest[name].decode(errors="replace"), "timestamp": stamp()})
                rest[name] = b""
        return None

    def pass_on(self, descriptor, name, rest, outputs):
        """One read's worth, never cut inside of a character. False: nothing is there."""
        piece = read_some(descriptor)
        if not piece:
            return False
        data = rest[name] + piece
        whole = whole_characters(data)
        rest[name] = data[whole:]
        if whole:
            outputs.put({"type": name, "text": data[:whole].decode(errors="replace"), "timestamp": stamp()})
        return True

    def lines_of(self, end):
        return []

    def interrupt(self):
        if self.turn.locked():
            self.interrupted_at = time.monotonic()
            self.signal(signal.SIGINT)

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def read_some(descriptor):
    """b"" at the end, None when nothing is there."""
    try:
        return os.read(descriptor, READ)
    except BlockingIOError:
        return None


def whole_characters(data):
    """How many bytes of UTF-8 are whole characters, at least all but three."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return len(data)
        if byte >= 0xC0:
            need = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if back >= need else len(data) - back
    return len(data)


class BashContext(PipedContext):
    language = "bash"

    def argv(self):
        return ["/bin/bash", "--noprofile", "--norc", "-s"]

    def start(self):
        super().start()
        # An interrupt ends the piece and not the shell.
        self.tell("trap 'return 130 2>/dev/null' INT\n")

    def tell(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def begin(self, code, environment):
        piece = os.path.join(self.folder, "piece.sh")
        with open(piece, "w") as file:
            file.write(code + "\n")
        before = "".join(
            f"declare -g _paddock_{i}=\"${{{name}-}}\" _paddock_set_{i}=\"${{{name}+x}}\"\nexport {name}={quoted(value)}\n"
            for i, (name, value) in enumerate(environment.items()) if name.isidentifier())
        after = "".join(
            f"if [ -n \"$_paddock_set_{i}\" ]; then export {name}=\"$_paddock_{i}\"; else unset {name}; fi\n"
            for i, name in enumerate(environment) if name.isidentifier())
        # One group: bash reads all of it before it runs any, and the piece cannot eat the rest.
        self.tell(f"{{\n{before}. {quoted(piece)} </dev/null 9>&-\n_paddock_status=$?\n{after}"
                  f"printf '%d\\n' \"$_paddock_status\" >&{CONTROL}\n}}\n")

    def lines_of(self, end):
        if end == 0:
            return []
        return [error_line("ExitStatus", str(end), f"the last command ended with {end}")]


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


class JavaScriptContext(PipedContext):
    language = "javascript"

    def argv(self):
        node = shutil.which("node")
        if node is None:
            raise ContextError(501, "JavaScript needs node, which this machine does not have")
        return [node, "--experimental-vm-modules", "--no-warnings", os.path.join(HERE, "driver.js")]

    def begin(self, code, environment):
        self.process.stdin.write(json.dumps({"code": code, "environment": environment}).encode() + b"\n")
        self.process.stdin.flush()

    def lines_of(self, end):
        if end.get("error"):
            return [error_line(*end["error"])]
        if "result" in end:
            return [{"type": "result", "is_main_result": True, **end["result"]}]
        return []
