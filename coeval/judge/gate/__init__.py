"""Is a new system no worse than an old one, but for a margin? A test on a judge's scores, for integration tests."""
