"""The compatible surface of GitMem: sessions with a closing ceremony, scars that need confirmation, threads."""
