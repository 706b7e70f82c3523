"""`holdfast judge` and `holdfast trust`: report whether memories helped, and how far to trust them."""

import click

from holdfast.hosts.cli.options import opened
from holdfast.hosts.cli.person import PERSON
from holdfast.hosts.cli.render import json_option, show
from holdfast.hosts.cli.values import MEMORY
from holdfast.model.errors import Conflict
from holdfast.policy.ranking.trust import REASONS
from holdfast.surfaces.core import reports
from holdfast.surfaces.core import text as shown
from holdfast.verbs.sessions.judge import VERDICTS, judge
from holdfast.verbs.sessions.scars import Answer, unanswered
from holdfast.verbs.truth.trust import change_trust, trust_of


@click.command("judge")
@click.argument("verdict", type=click.Choice(VERDICTS, case_sensitive=False), metavar="VERDICT")
@click.argument("ids", type=MEMORY, nargs=-1)
@click.option("--evidence", "--note", default="", help="What was observed, done or checked.")
@click.option("--session", help="Session in which the scars were surfaced.")
@json_option
def judge_command(verdict: str, ids: tuple[str, ...], evidence: str, session: str | None, as_json: bool) -> None:
    """Report whether memories helped, or answer a scar.

    A scar is answered with APPLYING, N_A or REFUTED. applied, ignored, contradicted and corrected report the outcome of any memory
    that was shown; verified marks it as checked; confirmed and cancelled approve and reject a pending one.
    """
    with opened(session=session) as memory:
        judged = judge(memory, [Answer(scar=id_, decision=verdict, evidence=evidence) for id_ in ids])
        open_scars = unanswered(memory)
    lines = [line for line in shown.answered(judged, PERSON) if open_scars or not line.startswith("Every scar")]
    show(judged, "\n".join(lines), as_json=as_json)
    if judged.problems:
        raise click.exceptions.Exit(Conflict.exit_code)


@click.command("trust")
@click.argument("id", type=MEMORY)
@click.option("--raise", "raises", flag_value=True, default=None, help="Raise the trust.")
@click.option("--lower", "raises", flag_value=False, help="Lower the trust.")
@click.option("--reason", default="", help=f"One of {', '.join(REASONS)}.")
@click.option("--by", "delta", type=float, help="By how much; default: by the reason.")
@click.option("--note", default="", help="What was observed.")
@json_option
def trust_command(id: str, raises: bool | None, reason: str, delta: float | None, note: str, as_json: bool) -> None:  # noqa: A002
    """Show the trust in a memory and its reasons; with --raise or --lower, change it."""
    with opened() as memory:
        direction = REASONS[reason] > 0 if raises is None and reason in REASONS else raises
        trust = (
            trust_of(memory, id)
            if direction is None and not reason
            else change_trust(memory, id, reason, raises=direction is not False, delta=delta, note=note)
        )
    show(trust, reports.trust_of(trust, PERSON), as_json=as_json)
