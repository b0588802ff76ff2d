"""Recorded answers judged again, without asking a model: one result per (LLM, dataset, serializer, test, file)."""
