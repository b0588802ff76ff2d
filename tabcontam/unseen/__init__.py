"""Unseen twins: rows that nobody can have read, made of a table with a target, for a comparison with its own rows.

Accuracy on a table's rows is of two parts: what an LLM can do, and what it recalls. On a twin it can do as much and
recall nothing, as far as the twin's kind says. Each kind states what it `keeps` and what it `changes`; each twin is
checked before it is handed out, and refused with one reason where the check fails: see `making`.
"""
