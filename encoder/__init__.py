"""Training of the encoder: what it learned last, and from what."""
