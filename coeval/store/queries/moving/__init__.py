"""A whole study by its tables: what belongs to it, read in one file and written into another."""
