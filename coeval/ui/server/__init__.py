"""The web server: the guard, sign-in, sessions, downloads, help."""
