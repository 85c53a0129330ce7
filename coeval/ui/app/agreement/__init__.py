"""The Agreement tab."""
