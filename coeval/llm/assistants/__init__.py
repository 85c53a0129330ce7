"""Assistant evaluators for fusion: automatic measures and imported scores."""
