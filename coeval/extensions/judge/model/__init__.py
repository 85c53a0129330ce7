"""A judge as data: its parts, its file, its signature and their checks."""
