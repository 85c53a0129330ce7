"""A judge as data: its parts, its file and its signature, with their checks."""
