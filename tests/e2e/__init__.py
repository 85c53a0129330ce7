"""Whole studies in Chromium."""
