"""Unseen twins: rows that no model can have read, made from a table with a target and compared with the table.

Accuracy on a table's rows comes from the LLM's skill and from recall. On a twin the LLM has equal skill and can recall
nothing, if the twin has the properties that its kind states: what it keeps and what it changes. Each twin is checked,
and refused with a reason if it fails its check: see `twin_making`.
"""
