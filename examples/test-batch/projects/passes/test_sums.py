import unittest


class Sums(unittest.TestCase):
    def test_small(self):
        self.assertEqual(1 + 1, 2)

    def test_large(self):
        self.assertEqual(sum(range(1000)), 499500)
