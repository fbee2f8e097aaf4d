"""Contexts: interpreters that keep their state between runs. Each has one run at a time.

execute(code, environment, outputs, stop) puts what the wire shows into `outputs`, end_of_execution last.
"""
import threading
import time


class ContextError(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def stamp():
    return int(time.time() * 1e6)


class Context:
    language = ""

    def __init__(self, id, cwd):
        self.id = id
        self.cwd = cwd
        self.turn = threading.Lock()
        self.closed = False
        self.start()

    def describe(self):
        return {"id": self.id, "language": self.language, "cwd": self.cwd}

    def execute(self, code, environment, outputs, stop):
        try:
            with self.turn:
                if self.closed:
                    outputs.put(error_line("ContextRemoved", "the context was removed"))
                elif not stop.is_set():
                    self.run(code, environment, outputs)
        except Exception as error:  # whatever it is, the client waits for an end
            outputs.put(error_line(type(error).__name__, str(error)))
        outputs.put({"type": "end_of_execution"})

    def restart(self):
        """What runs ends with an error; the state is gone."""
        self.kill()
        with self.turn:
            if not self.closed:
                self.kill()
                self.start()

    def close(self):
        self.closed = True
        self.kill()

    # start(), run(code, environment, outputs), interrupt(), kill() are the interpreter's.


def error_line(name, value, traceback=""):
    return {"type": "error", "name": name, "value": value, "traceback": traceback}


def canonical(language):
    language = str(language or "python").lower()
    return {"js": "javascript", "sh": "bash", "python3": "python"}.get(language, language)


def make_context(id, language, cwd):
    language = canonical(language)
    if language == "python":
        from python_context import PythonContext

        return PythonContext(id, cwd)
    if language == "bash":
        from shell_contexts import BashContext

        return BashContext(id, cwd)
    if language == "javascript":
        from shell_contexts import JavaScriptContext

        return JavaScriptContext(id, cwd)
    raise ContextError(400, f"language {language!r} is not there: python, bash and javascript are")
