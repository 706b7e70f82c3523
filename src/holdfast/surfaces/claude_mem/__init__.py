"""The compatible surface of claude-mem: an index, a timeline and full texts, by integer ids."""
