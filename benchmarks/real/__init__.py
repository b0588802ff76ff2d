"""A record of what real LLMs answered about tables, and what the verdicts make of it: `python -m benchmarks.real`."""
