"""Where the bench works: a temporary folder that an ordinary user can read, with the built programs."""
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

from .measure import Command

SOURCE = Path(__file__).resolve().parent.parent
USER = "paddock-test"


class World:
    """Use as a context manager; removes all that it made."""

    def __enter__(self):
        parent = "/srv" if os.geteuid() == 0 and os.path.isdir("/srv") else None
        self.top = Path(tempfile.mkdtemp(prefix="paddock-bench-", dir=parent))
        self.top.chmod(0o755)
        (self.top / "bin").mkdir()
        for program in ("paddock", "paddock-agent"):
            shutil.copy(SOURCE / "build" / "bin" / program, self.top / "bin")
        self.is_root = os.geteuid() == 0
        self.user = self._ordinary_user() if self.is_root else os.geteuid()
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top, ignore_errors=True)

    def _ordinary_user(self):
        try:
            return pwd.getpwnam(USER).pw_uid
        except KeyError:
            subprocess.run(["useradd", "--create-home", USER], check=True)
            return pwd.getpwnam(USER).pw_uid

    def folder(self, name, user=None):
        path = self.top / name
        path.mkdir(parents=True, exist_ok=True)
        if user is not None and self.is_root:
            os.chown(path, user, user)
        return path

    def environment(self, who):
        """HOME and PADDOCK_HOME of `who`: a name of our choice, one state each."""
        home = self.top / who
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(home),
            "PADDOCK_HOME": str(home / "state"),
            "LANG": "C.UTF-8",
        }

    def paddock(self, *args, cwd, who="root", user=None):
        self.folder(who, user)
        argv = [str(self.top / "bin" / "paddock"), *map(str, args)]
        return Command(argv, cwd=str(cwd), env=self.environment(who), user=user)
