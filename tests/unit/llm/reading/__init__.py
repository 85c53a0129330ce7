"""Reading a model's words."""
