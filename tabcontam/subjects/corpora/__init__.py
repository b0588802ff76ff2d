"""Bodies of documents: files that are read as they stream, and the index in which their text is found."""
