"""How many documents and people a study needs, before it and while it runs."""
