"""A study in one HTML file."""
