"""Scrutiny: what a person sees, does and saves."""
