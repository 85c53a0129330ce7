"""Whole studies between files."""
