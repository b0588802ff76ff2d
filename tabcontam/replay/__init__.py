"""Recorded answers judged again, with no model asked: one result per (LLM, dataset, serializer, test, file)."""
