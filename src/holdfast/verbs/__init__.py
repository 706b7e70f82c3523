"""Everything the product does: plain functions whose first argument is the open Memory."""
