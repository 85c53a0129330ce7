"""Many calls."""
