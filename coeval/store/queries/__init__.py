"""Functions that read and write the database, by subject."""
