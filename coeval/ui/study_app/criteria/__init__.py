"""The Criteria tab."""
