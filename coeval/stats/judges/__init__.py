"""Comparisons of models with people: correlations, tests, closeness."""
