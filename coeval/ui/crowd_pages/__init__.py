"""A crowd study's own pages, from the service's link to the completion code."""
