"""The tests of Bordt et al. 2024 (their package is tabmemcheck), which show rows as the text of a CSV file."""
