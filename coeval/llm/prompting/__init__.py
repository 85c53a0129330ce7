"""Templates, and the values that fill them."""
