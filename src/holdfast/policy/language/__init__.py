"""Read texts: statements, quantities, contradictions, signals and titles."""
