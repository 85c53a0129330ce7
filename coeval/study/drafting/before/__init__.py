"""Before a run: the question in full, what it would take, and a pilot of one way beside the other."""
