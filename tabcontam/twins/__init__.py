"""Unseen twins: rows that no model can have read, made from a table with a target, for comparison with its rows.

Accuracy on a table's rows comes from the LLM's skill and from recall. On a twin the LLM has equal skill and recalls
nothing, if the twin is what its kind promises. Each kind states what it `keeps` and what it `changes`. Each twin is
checked, and refused with a reason if it fails its check: see `twin_making`.
"""
