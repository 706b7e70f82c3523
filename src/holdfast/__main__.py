"""`python -m holdfast` is the `holdfast` command."""

from holdfast.hosts.cli.main import main

main()
