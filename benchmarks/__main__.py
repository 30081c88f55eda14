"""``python -m benchmarks``: all measurements, one after the other."""

from benchmarks import judging

judging.main()
