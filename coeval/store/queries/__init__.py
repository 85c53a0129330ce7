"""Reads and writes, by what they are about."""
