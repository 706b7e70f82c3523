"""What clients run at their events, kept lean: `client` is the script, `hook` what it does."""
