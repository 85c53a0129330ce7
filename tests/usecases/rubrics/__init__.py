"""Criteria that belong to one instance."""
