"""Copies of the file in a safe place, and the way back."""
