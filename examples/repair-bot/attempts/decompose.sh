# Decomposes the letters before what is not ASCII is dropped.
sed -i 's/normalize("NFC", title)/normalize("NFKD", title)/' slugs/text.py
