"""Tables too large for memory: read twice as a stream, for a sample of the rows and exact facts about all rows."""
