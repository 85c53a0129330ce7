"""The Agreement tab: a module a section."""
