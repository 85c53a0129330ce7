"""Statistics of a task: read, computed, kept."""
