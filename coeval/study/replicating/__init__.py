"""Published studies computed anew from their public files, beside what was printed."""
