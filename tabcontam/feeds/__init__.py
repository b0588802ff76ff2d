"""Dated sources, and the rows of tables or texts from them that are surely not older than a date."""
