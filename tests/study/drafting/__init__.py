"""Use cases of drafting."""
