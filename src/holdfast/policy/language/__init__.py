"""What a text says: statements, quantities, contradictions, signals, titles."""
