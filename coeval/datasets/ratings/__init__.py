"""Long tables of ratings, one rating a row."""
