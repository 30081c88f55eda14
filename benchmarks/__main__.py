"""``python -m benchmarks``: all measurements, one after the other."""

from benchmarks import contamination, duplicates, generation, ingestion, item_response, judging, publishing, ranks

judging.main()
duplicates.main()
ingestion.main()
ranks.main()
item_response.main()
contamination.main()
generation.main()
publishing.main()
