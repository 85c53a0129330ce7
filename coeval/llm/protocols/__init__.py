"""How a judgment is made."""
