"""What of a text or of a session's log wants keeping, how sure that is, and what must never be taken for it."""

from bench.labelled import LEAST_PRECISION, LEAST_RECALL, READER, SPLITS, every_sentence, rows_of, score_passages
from holdfast.model.kinds import KINDS as RECORD_KINDS
from holdfast.policy.language.mine import FAMILIES, mine
from holdfast.policy.language.noteworthy import KINDS
from tests.policy.scripts import scripts_in

scripts_in(globals(), {"READER": READER})


def test_knowledge_is_found_in_passages_nobody_tuned_for() -> None:
    for split in SPLITS:
        ours, naive = score_passages(mine, split), score_passages(every_sentence, split, kinds=False)
        assert ours.precision >= max(LEAST_PRECISION, naive.precision), (split, ours, naive)
        assert ours.recall >= LEAST_RECALL, (split, ours)
    wanted = {want["kind"] for split in SPLITS for row in rows_of("mining", split) for want in row["wanted"]}
    assert wanted | {"insight"} == set(FAMILIES)
    assert set(KINDS.values()) <= set(RECORD_KINDS)  # every signal becomes a kind of record
