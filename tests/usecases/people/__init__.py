"""Use cases of people."""
