"""Judges: what they learn from, what was fitted, and the steps of learning."""
