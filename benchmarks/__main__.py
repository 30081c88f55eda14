"""``python -m benchmarks``: all measurements, one after the other."""

from benchmarks import duplicates, judging

judging.main()
duplicates.main()
