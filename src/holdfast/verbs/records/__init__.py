"""Records themselves: write, read, change, retire, list them."""
