"""What clients run at their events: one lean file, and what prepares its answers."""
