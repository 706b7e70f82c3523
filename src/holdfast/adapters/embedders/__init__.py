"""Ways to turn text into vectors."""
