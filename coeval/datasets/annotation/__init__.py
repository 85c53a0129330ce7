"""The files of other annotation tools, in and out."""
