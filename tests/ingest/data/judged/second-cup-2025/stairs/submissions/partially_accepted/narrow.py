one, two = 1, 1
for _ in range(int(input())):
    one, two = two, (one + two) % 2**32
print(one)
