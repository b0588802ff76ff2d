"""Tests of tabcontam.extensions.fresh.feeds."""
