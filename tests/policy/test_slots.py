"""Texts that fill the same slot differently, in other words and other languages."""

import json
from pathlib import Path

from holdfast.policy.language.contradict import contradicts
from holdfast.policy.language.slots import agrees
from tests.rows import each

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "bench/data/pairs.jsonl").read_text(encoding="utf-8").splitlines()
]


@each(
    ("older", "newer"),
    [
        ("Indent with tabs in this repository.", "We indent with four spaces."),
        ("We host everything on AWS.", "Production runs on Google Cloud."),
        ("The API listens on port 8080 in every environment.", "The API uses port 9090 in production."),
        ("Never deploy on Fridays.", "We deploy every Friday."),
        ("Sessions are stored in Redis.", "We keep sessions in Postgres."),
        ("Die Tests dürfen die Datenbank nicht mocken.", "Die Tests dürfen die Datenbank mocken."),
        ("El tiempo de espera es de 30 segundos.", "El tiempo de espera es de 10 segundos."),
        ("Le cache est partagé entre les clients.", "Le cache n'est pas partagé entre les clients."),
        ("不要在周五部署。", "可以在周五部署。"),
        ("テストではデータベースをモックする。", "テストではデータベースをモックしない。"),
    ],
)
def test_another_value_or_a_negation_in_the_same_slot_contradicts(older: str, newer: str) -> None:
    found = contradicts(older, newer, similarity=0.15)
    assert found is not None
    assert found.strength >= 0.75
    assert not agrees(older, newer)


@each(
    "pair",
    [pair for pair in PAIRS if pair["label"] != "contradiction" and pair["split"] != "second"],
)
def test_neighbours_and_paraphrases_do_not_contradict(pair: dict[str, str]) -> None:
    assert contradicts(pair["older"], pair["newer"]) is None
