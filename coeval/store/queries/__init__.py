"""Reads and writes, by subject."""
