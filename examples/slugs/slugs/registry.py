"""Slugs that are in use."""
from .text import slug


class Registry:
    def __init__(self, taken=()):
        self._taken = set(taken)

    def claim(self, title):
        """A slug that nobody has yet: the plain one, or the first with a free number."""
        plain = slug(title)
        number, candidate = 1, plain
        while candidate in self._taken:
            number += 1
            candidate = f"{plain}-{number}"
        self._taken.add(candidate)
        return candidate
