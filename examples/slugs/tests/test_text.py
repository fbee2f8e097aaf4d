import unittest

from slugs import slug


class Slug(unittest.TestCase):
    def test_words_are_joined_by_hyphens(self):
        self.assertEqual(slug("Hello, World!"), "hello-world")

    def test_accents_become_plain_letters(self):
        self.assertEqual(slug("Crème brûlée"), "creme-brulee")

    def test_numbers_stay(self):
        self.assertEqual(slug("7 ways to 99"), "7-ways-to-99")

    def test_nothing_left_is_untitled(self):
        self.assertEqual(slug("!?"), "untitled")

    def test_a_long_title_is_cut_at_a_word(self):
        self.assertEqual(slug("one two three", longest=9), "one-two")


if __name__ == "__main__":
    unittest.main()
