import unittest

from slugs import Registry


class Claim(unittest.TestCase):
    def test_the_first_gets_the_plain_slug(self):
        self.assertEqual(Registry().claim("Hello"), "hello")

    def test_the_next_ones_get_numbers(self):
        registry = Registry()
        self.assertEqual([registry.claim("Hello") for _ in range(3)], ["hello", "hello-2", "hello-3"])

    def test_taken_numbers_are_skipped(self):
        self.assertEqual(Registry(["hello", "hello-2"]).claim("Hello"), "hello-3")


if __name__ == "__main__":
    unittest.main()
