"""A judge as data: its parts, and its file, with their checks."""
