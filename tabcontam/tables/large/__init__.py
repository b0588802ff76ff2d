"""Tables too large for memory. They are read twice as a stream, for a sample of rows and exact facts about all rows."""
