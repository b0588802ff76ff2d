"""Recorded answers judged again, with no model asked: one cell per (LLM, dataset, serializer, test, file)."""
