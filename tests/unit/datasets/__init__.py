"""Files that are read."""
