"""An LLM that reads tables a known number of times: `python -m benchmarks.exposed`."""
