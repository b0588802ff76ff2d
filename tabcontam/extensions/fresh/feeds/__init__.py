"""Feeds of dated texts, and fresh rows: table rows and texts that are surely not older than a given date."""
