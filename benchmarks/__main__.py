"""``python -m benchmarks``: all measurements, one after the other."""

from benchmarks import duplicates, ingestion, judging

judging.main()
duplicates.main()
ingestion.main()
