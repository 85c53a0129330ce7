"""What comes in by files, and what leaves for other tools."""
