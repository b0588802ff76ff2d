"""Faults of one line each, put into a copy of the package one at a time: the tests that cover the line must fail.

A mutant names a function and a piece of its text, not a file, so that it survives a move. `python -m benchmarks.mutants
--help` says how they are run.
"""
