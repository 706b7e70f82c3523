"""Find and mask credentials: a table of rules, and how texts are read before they are matched."""
