"""What `holdfast` alone prints: where you are, and three things to try."""

from holdfast import __version__
from holdfast.hosts.cli.render import console


def greet() -> None:
    """Print a short, friendly start."""
    out = console()
    out.print(f"[bold]holdfast[/] {__version__}  [dim]what an agent learned holds fast[/]\n")
    for command, meaning in (
        ('holdfast remember "Run the migrations before the seed script."', "keep something"),
        ('holdfast recall "how do I set up the database"', "find it again, by word or meaning"),
        ("holdfast list", "see what is kept for this project"),
        ("holdfast init", "set up Claude Code, Codex and the others; shows every change first"),
        ("holdfast doctor", "check that everything works"),
    ):
        out.print(f"  [cyan]{command:<64}[/] {meaning}")
    out.print("\n[dim]holdfast --help lists every command; each has a --help of its own.[/]")
