"""Reads and writes of whole studies: exports, imports, statistics."""
