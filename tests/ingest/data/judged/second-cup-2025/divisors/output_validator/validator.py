"""Counts divisors. With the argument "all" nothing less counts, and there is no score to give."""

import sys
from pathlib import Path

ACCEPTED, REJECTED = 42, 43
MOST = int("{{most}}")


def main() -> int:
    number = int(Path(sys.argv[1]).read_text())
    wanted = {place for place in range(1, MOST + 1) if number % place == 0}
    words = sys.stdin.read().split()
    if not words or not all(word.isdigit() for word in words):
        return REJECTED
    given = [int(word) for word in words]
    if len(set(given)) < len(given) or not set(given) <= wanted:
        return REJECTED
    if "all" in sys.argv[4:]:
        return ACCEPTED if len(given) == len(wanted) else REJECTED
    Path(sys.argv[3], "score_multiplier.txt").write_text(str(len(given) / len(wanted)))
    return ACCEPTED


sys.exit(main())
