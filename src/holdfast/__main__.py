"""`python -m holdfast` is the `holdfast` command."""

from holdfast.hosts.cli.entry import main

main()
