"""What may be stored, imported and shared."""
