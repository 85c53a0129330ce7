"""Use cases of judging."""
