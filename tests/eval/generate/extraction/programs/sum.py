import sys

def main():
    data = sys.stdin.read().split()
    print(sum(map(int, data)))

main()
