"""Statistics of a task: read, computed and cached."""
