"""``python -m live``: the same command."""

from live.cli import main

main()
