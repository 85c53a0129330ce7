"""A judge from its file at work: over a table, one text, or the questions it was certified by."""
