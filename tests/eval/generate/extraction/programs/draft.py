n, k = map(int, input().split())
print(n + k)
