"""Fit a judge on scores of people."""
