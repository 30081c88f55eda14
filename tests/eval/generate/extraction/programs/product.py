import sys


def main():
    n, k = map(int, sys.stdin.readline().split())
    print(n * k)


main()
