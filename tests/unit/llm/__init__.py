"""The model helper."""
