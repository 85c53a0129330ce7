"""Fit a judge to people's scores."""
