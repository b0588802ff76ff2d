"""The tests that search documents for the table's rows, its words, or examples of its task; no model is asked."""
