"""Use cases of criteria."""
