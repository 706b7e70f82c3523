"""`holdfast store scan`: search the whole store for secrets, and mask them."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from holdfast.hosts.cli.options import declined, opened
from holdfast.hosts.cli.render import agreed, console, json_option, print_json, working
from holdfast.model.errors import Invalid
from holdfast.model.ids import short
from holdfast.verbs.upkeep.scan import Leak, Redacted, ScanResult, look_through, redact, scan


@click.command("scan")
@click.option(
    "--path", "folder", type=click.Path(exists=True, path_type=Path), help="Scan this folder or file instead."
)
@click.option("--redact", "masking", is_flag=True, help="Mask secrets in the store, everywhere and permanently.")
@click.option("--yes", is_flag=True, help="Do not ask before masking.")
@json_option
def scan_command(folder: Path | None, masking: bool, yes: bool, as_json: bool) -> None:
    """Search the whole store for secrets: memories and their history, sessions, the trail, transcripts, logs, the spool.

    Exit code 1 if any is found and not masked. Only the beginning of a secret is printed.

    \b
    holdfast store scan
    holdfast store scan --redact
    holdfast store scan --path ~/notes
    """
    if folder:
        if masking:
            raise Invalid("Your own files are not changed.", hint="--redact is for the store; edit the files yourself.")
        _show_scanned(look_through(folder), as_json=as_json)
        return
    with opened() as memory:
        with working("searching for secrets"):
            leaks = scan(memory)
        if masking and (yes or not leaks or _confirm_masking(leaks)):
            _masked(leaks, redact(memory), as_json=as_json)
            return
    print_json({"leaks": [asdict(leak) for leak in leaks]}) if as_json else _show(
        leaks, "`holdfast store scan --redact` masks them."
    )
    if leaks:
        raise click.exceptions.Exit(1)


def _confirm_masking(leaks: Sequence[Leak]) -> bool:
    _show(leaks, "", error=True)
    if not agreed("Mask them in the store, history included? This cannot be undone."):
        declined()
    return True


def _show_scanned(looked: ScanResult, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(looked))
    else:
        left = f", {len(looked.skipped)} not read (binary, too large, or unreadable)" if looked.skipped else ""
        _show(looked.leaks, f"{looked.files} files read{left}.")
    if looked.leaks:
        raise click.exceptions.Exit(1)


def _masked(leaks: Sequence[Leak], done: Redacted, *, as_json: bool) -> None:
    if as_json:
        print_json({"leaks": [asdict(leak) for leak in leaks], "redacted": asdict(done)})
    elif not leaks:
        console().print("No secrets found.")
    else:
        rows = sum(done.rows.values())
        console().print(
            f"Masked: {done.events} events of {len(done.records)} memories and their sessions, "
            f"{rows} rows outside the journal, {done.files} files."
        )
        console().print("[dim]The secret may be stored elsewhere too: rotate it.[/]")
    if not done.clean:
        console(error=True).print(
            "Another process is reading the store, so its log still contains old pages. Close it and run this again."
        )


def _show(leaks: Sequence[Leak], footer: str, *, error: bool = False) -> None:
    out = console(error=error)
    if not leaks:
        out.print("No secrets found." + (f" [dim]{footer}[/]" if "files" in footer else ""))
        return
    wide = max(len(leak.kind) for leak in leaks)
    for leak in leaks:
        place = leak.id if leak.where == "file" else short(leak.id)
        out.print(
            Text.assemble(
                (f"{leak.kind:<{wide}}  ", "bold"), (f"{leak.begins:<24}  ", "yellow"),
                f"{leak.where} ", (place, "cyan"), (f"  {leak.title}", "dim"),
            ),
            soft_wrap=True,
        )  # fmt: skip
    places = len({(leak.where, leak.id) for leak in leaks})
    out.print(f"\n{len(leaks)} found in {places} places." + (f" [dim]{footer}[/]" if footer else ""))
