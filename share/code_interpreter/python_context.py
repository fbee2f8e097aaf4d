"""Python, by an IPython kernel and its own protocol."""
import json
import os
import queue
import shutil
import tempfile

from jupyter_client import KernelManager

from contexts import Context, error_line, stamp

START_SECONDS = 60
FORMS = {
    "text/plain": "text",
    "text/html": "html",
    "text/markdown": "markdown",
    "text/latex": "latex",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "application/pdf": "pdf",
    "application/json": "json",
    "application/javascript": "javascript",
    "e2b/data": "data",
}

# Tables are given as their columns, too.
STARTUP = """
def _paddock_startup():
    import json
    from IPython import get_ipython
    from IPython.core.formatters import BaseFormatter
    from traitlets import ObjectName, Unicode
    class Columns(BaseFormatter):
        format_type = Unicode("e2b/data")
        print_method = ObjectName("_repr_e2b_data_")
        _return_type = dict
    formatter = Columns(parent=get_ipython().display_formatter)
    def columns(frame):
        head = frame.head(10000)
        if not head.columns.is_unique:
            return None
        values = lambda name: json.loads(head[name].to_json(orient="values", date_format="iso", default_handler=str))
        return {str(name): values(name) for name in head.columns}
    formatter.for_type_by_name("pandas.core.frame", "DataFrame", columns)
    get_ipython().display_formatter.formatters["e2b/data"] = formatter
_paddock_startup()
del _paddock_startup
"""

SET_ENVIRONMENT = """
import os as _paddock_os, json as _paddock_json
_paddock_before = {}
for _paddock_name, _paddock_value in _paddock_json.loads(%s).items():
    _paddock_before[_paddock_name] = _paddock_os.environ.get(_paddock_name)
    _paddock_os.environ[_paddock_name] = _paddock_value
"""
RESTORE_ENVIRONMENT = """
for _paddock_name, _paddock_value in _paddock_before.items():
    if _paddock_value is None:
        _paddock_os.environ.pop(_paddock_name, None)
    else:
        _paddock_os.environ[_paddock_name] = _paddock_value
"""


class KernelDied(Exception):
    pass


def result_line(content, is_main):
    line = {"type": "result", "is_main_result": is_main}
    extra = {}
    for form, value in content["data"].items():
        if form in FORMS:
            line[FORMS[form]] = value
        else:
            extra[form] = value
    text = line.get("text")
    if text and len(text) > 1 and text[0] == text[-1] == "'":
        line["text"] = text[1:-1]
    if extra:
        line["extra"] = extra
    return line


class PythonContext(Context):
    language = "python"

    def start(self):
        # Sockets, not ports: those are the code's own to use.
        self.folder = tempfile.mkdtemp(prefix="kernel-")
        self.manager = KernelManager(
            kernel_name="python3", transport="ipc", ip=os.path.join(self.folder, "s"),
            connection_file=os.path.join(self.folder, "connection.json"))
        self.manager.start_kernel(cwd=self.cwd)
        self.client = self.manager.client()
        self.client.start_channels()
        try:
            self.client.wait_for_ready(timeout=START_SECONDS)
        except RuntimeError:
            self.kill()
            raise
        self.quietly(STARTUP)

    def run(self, code, environment, outputs):
        try:
            if environment:
                self.quietly(SET_ENVIRONMENT % repr(json.dumps(environment)))
            self.run_visibly(code, outputs)
            if environment:
                self.quietly(RESTORE_ENVIRONMENT)
        except KernelDied:
            outputs.put(error_line("KernelDied", "the interpreter ended; its state is gone"))
            if not self.closed:
                self.kill()
                self.start()

    def run_visibly(self, code, outputs):
        request = self.client.execute(code, store_history=True, allow_stdin=False)
        for message in self.messages(request):
            kind, content = message["msg_type"], message["content"]
            if kind == "execute_input":
                outputs.put({"type": "number_of_executions", "execution_count": content["execution_count"]})
            elif kind == "stream":
                outputs.put({"type": content["name"], "text": content["text"], "timestamp": stamp()})
            elif kind in ("display_data", "update_display_data"):
                outputs.put(result_line(content, False))
            elif kind == "execute_result":
                outputs.put(result_line(content, True))
            elif kind == "error":
                outputs.put(error_line(content["ename"], content["evalue"], "\n".join(content["traceback"])))

    def quietly(self, code):
        for _ in self.messages(self.client.execute(code, silent=True, store_history=False, allow_stdin=False)):
            pass

    def messages(self, request):
        """What belongs to the request, until the kernel is idle again and has replied."""
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                if not self.manager.is_alive():
                    raise KernelDied()
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            yield message
        while True:
            try:
                reply = self.client.get_shell_msg(timeout=0.5)
            except queue.Empty:
                if not self.manager.is_alive():
                    raise KernelDied()
                continue
            if reply["parent_header"].get("msg_id") == request:
                return

    def interrupt(self):
        if self.turn.locked():
            self.manager.interrupt_kernel()

    def kill(self):
        if self.manager.is_alive():
            self.manager.shutdown_kernel(now=True)
        self.client.stop_channels()
        shutil.rmtree(self.folder, ignore_errors=True)
