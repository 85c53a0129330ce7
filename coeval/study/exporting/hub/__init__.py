"""A study sent to the Hugging Face Hub: what would leave, its card and its description, the sending."""
