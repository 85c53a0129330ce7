"""The Scrutiny tab and its routes."""
