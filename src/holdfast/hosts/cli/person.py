"""How texts are written for the person at the terminal: local and relative times, commands to type, nothing left out."""

from holdfast.hosts.cli.render import ago
from holdfast.model.ids import short
from holdfast.surfaces.core.reader import Reader
from holdfast.verbs.truth.contradictions import HOWS

PERSON = Reader(
    budget=0,
    figures=False,
    day=ago,
    minute=ago,
    session=short,
    answer="`holdfast judge APPLYING|N_A|REFUTED ID --evidence …`",
    closing="`holdfast session close`",
    to_close='Answer each with --answer what_broke="…"; --quick closes without, --autonomous if no human took part.',
    unclosed="`holdfast session start --session ID` resumes it, `holdfast session close --session ID` closes it.",
    promote="decide with `holdfast review`",
    another="--force opens another one.",
    lesson="save one with `holdfast remember --kind scar --link elaborates:ID …`, retire others with `holdfast forget ID`.",
    settle=f"Resolve one: holdfast review resolve ID ID --how {'|'.join(HOWS)}",
    merge="Merge one: holdfast review merge ID ID; keep them apart: holdfast link ID relates_to ID",
)
