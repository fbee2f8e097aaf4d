# Takes the accents off by a table of its own: repairs the failing test, and needs a line for each letter.
python3 - <<'PYTHON'
from pathlib import Path

file = Path("slugs/text.py")
text = file.read_text()
text = text.replace("LONGEST = 60\n", """LONGEST = 60
PLAIN = {
    "à": "a", "á": "a", "â": "a", "ã": "a", "ä": "a",
    "ç": "c",
    "è": "e", "é": "e", "ê": "e", "ë": "e",
    "ì": "i", "í": "i", "î": "i", "ï": "i",
    "ñ": "n",
    "ò": "o", "ó": "o", "ô": "o", "õ": "o", "ö": "o",
    "ù": "u", "ú": "u", "û": "u", "ü": "u",
}
""")
text = text.replace('plain = unicodedata', 'title = "".join(PLAIN.get(c, c) for c in title)\n    plain = unicodedata')
file.write_text(text)
PYTHON
