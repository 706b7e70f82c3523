"""How Holdfast gets into the settings of its clients, and out again."""
