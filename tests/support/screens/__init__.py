"""Chromium, and the real screens in it."""
