"""Use cases, called as functions."""
