kept = []
while True:
    kept.append(bytearray(10 << 20))
