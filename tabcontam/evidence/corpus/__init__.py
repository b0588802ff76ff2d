"""Do documents hold the table's rows, its words, or examples of its task? Who holds them is searched, not asked."""
