"""Tests of tabcontam.extensions.fresh.passages."""
