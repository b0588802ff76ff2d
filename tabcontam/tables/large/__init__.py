"""Tables too large to hold: read as a stream, twice, to a sample of their rows and exact facts about all of them."""
