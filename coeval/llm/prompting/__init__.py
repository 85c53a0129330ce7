"""Templates, and what fills them."""
