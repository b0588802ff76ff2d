"""Tables too large for memory: streamed twice, to get a sample of their rows and exact facts about all of them."""
