"""What a column of an imported file is for, and what an image in one may be."""
