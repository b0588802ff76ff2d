"""Dated sources: what of them is surely not older than a date, be it rows of a table or texts."""
