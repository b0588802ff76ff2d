"""Tests of tabcontam.passages."""
