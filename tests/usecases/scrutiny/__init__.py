"""Use cases of scrutiny."""
