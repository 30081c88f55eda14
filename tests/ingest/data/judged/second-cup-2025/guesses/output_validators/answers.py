"""Answers guesses, ten at most; the number stands in the input file."""

import sys

ACCEPTED, REJECTED = 42, 43


def main() -> int:
    with open(sys.argv[1]) as given:
        number = int(given.read())
    with open(sys.argv[3] + "judgemessage.txt", "w") as message:
        for _ in range(10):
            line = sys.stdin.readline()
            if not line.strip().isdigit():
                message.write(f"not a guess: {line[:40]!r}\n")
                return REJECTED
            guess = int(line)
            print("correct" if guess == number else "lower" if number < guess else "higher", flush=True)
            if guess == number:
                return ACCEPTED
        message.write("ten guesses were not enough\n")
    return REJECTED


sys.exit(main())
