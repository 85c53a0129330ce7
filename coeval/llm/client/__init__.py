"""One call to a model: the request, the answer, the endpoint's abilities, and the reasons for failures."""
