"""A whole study in one file: out of one database, into another, or merged with what is there."""
