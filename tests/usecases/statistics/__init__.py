"""What the statistics say of whole studies."""
