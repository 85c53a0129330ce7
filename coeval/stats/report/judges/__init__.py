"""The sections that set judges beside people."""
