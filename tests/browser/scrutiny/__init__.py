"""Scrutiny and ballots in Chromium."""
