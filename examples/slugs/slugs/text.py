"""Titles to slugs."""
import re
import unicodedata

LONGEST = 60


def slug(title, longest=LONGEST):
    """Lower-case ASCII words joined by single hyphens, cut at a word, never empty."""
    plain = unicodedata.normalize("NFC", title).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.lower())
    kept = ""
    for word in words:
        longer = f"{kept}-{word}" if kept else word
        if len(longer) > longest:
            break
        kept = longer
    return kept or "untitled"
