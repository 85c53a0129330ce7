"""A section for each part of the Agreement tab, the paper's tables, and the methods paragraph."""
