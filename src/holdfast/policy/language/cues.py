"""The closed word lists of the rules about language (`cues.txt`) as regular expressions."""

from holdfast.model.patterns import cues_of

CUES: dict[str, str] = {name: text for rows in cues_of(__file__).values() for name, text in rows.items()}
