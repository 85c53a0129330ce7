"""Data sets of the Hugging Face Hub: what an address names, which files that is, and fetching them."""
