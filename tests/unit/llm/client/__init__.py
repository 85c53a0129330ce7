"""One call to a model."""
