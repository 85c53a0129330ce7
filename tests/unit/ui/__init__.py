"""The pure part of the screens."""
