"""Unseen twins: rows that no model can have read, made from a table with a target, to compare with its own rows.

Accuracy on a table's rows has two parts: the LLM's skill, and what it recalls. On a twin it has the same skill and
recalls nothing, as far as the twin's kind promises. Each kind states what it `keeps` and what it `changes`; each twin
is checked before it is returned, and refused with one reason if the check fails: see `twin_making`.
"""
