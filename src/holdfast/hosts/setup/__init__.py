"""How Holdfast is added to the settings of its clients, and removed again."""
