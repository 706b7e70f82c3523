"""The web viewer, by requests and in a real browser."""
