"""Lifecycle hooks that clients run at their events, kept lean: `client` is the script, `hook` its body."""
