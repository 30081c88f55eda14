one, two = 1, 1
for _ in range(int(input())):
    one, two = two, one + two
print(one)
