"""Parts beyond the core, one folder each with all that belongs to it."""
