"""Models against people: correlations, tests, closeness."""
