import subprocess
import time
import unittest


class Wait(unittest.TestCase):
    def test_waits(self):
        subprocess.Popen(["sleep", "100000"], start_new_session=True)
        time.sleep(100000)
