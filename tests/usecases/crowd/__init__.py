"""Use cases of crowd studies."""
