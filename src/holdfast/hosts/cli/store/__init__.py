"""Commands of `holdfast store`: back up, export, import, move and repair it."""
