"""Snapshots: shipped, laid over a copy, and restored."""
