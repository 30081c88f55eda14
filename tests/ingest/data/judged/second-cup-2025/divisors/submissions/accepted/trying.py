number = int(input())
print(*(place for place in range(1, number + 1) if number % place == 0))
