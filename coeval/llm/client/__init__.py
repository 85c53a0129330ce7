"""One call to a model: the request, the answer, what the endpoint supports, and why a call failed."""
