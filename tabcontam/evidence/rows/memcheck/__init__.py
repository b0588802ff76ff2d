"""The tests of Bordt et al. 2024, whose package is tabmemcheck, which show rows as the text of a CSV file."""
