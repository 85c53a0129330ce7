"""What the Agreement tab shows: a module a section, each from statistics to tiles, charts and tables."""
