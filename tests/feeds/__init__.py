"""Tests of tabcontam.feeds."""
