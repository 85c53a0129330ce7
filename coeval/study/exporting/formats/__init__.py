"""Scores out in the formats of other tools, a file each, and their registry."""
