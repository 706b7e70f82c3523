"""Roles of the database that nobody logs in as: a server's requests run as the member, its own work as the keeper."""

MEMBER, KEEPER = "holdfast_member", "holdfast_keeper"
