"""Database roles without a login: a server handles requests as the member and does its own work as the keeper."""

MEMBER, KEEPER = "holdfast_member", "holdfast_keeper"
