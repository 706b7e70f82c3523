"""Search by vectors in PostgreSQL: by the sign bits in an index, or by the HNSW graph if there are many records."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.engine.database import Bits, Database, Halves, Row, query_each
from holdfast.engine.journal import Journal
from holdfast.engine.search.sqlite_vectors import Codes, code_of, first_look
from holdfast.engine.views.records import PROJECT_BITS
from holdfast.engine.views.vectors import LARGEST
from holdfast.engine.views.words import Span

# Above this number of records, the graph is faster than reading all sign bits, although it also visits other projects.
LARGE = 100_000
# Passages read from the graph. Measured on a million: they contain 95 % of the true ten nearest; half as many, 90 %.
FOLLOWED = 2_000
MORE = 2  # factor on `first_look`: it expects passages, but here only the lower number of records is known


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Vector search in PostgreSQL, with the methods of `sqlite_vectors.Codes`; it caches nothing."""

    db: Database
    center: Any = 0.0

    def nearest(
        self, vector: Any, spans: Sequence[Span], *, most: int, allowed: Collection[int] | None = None
    ) -> dict[int, float]:
        """Return the records nearest to a unit vector, each with the cosine of its best passage, best first."""
        asked = {"vector": _halves(vector), "most": most}
        rows: list[Row] = []
        if allowed is not None:
            rows += self.db.query(_AMONG, asked | {"numbers": json.dumps(list(allowed))}) if allowed else []
        sizes = self._records(spans) if allowed is None else ()
        for (low, high), size in zip(spans, sizes, strict=False):
            given = asked | {"low": low, "high": high}
            if size > LARGE and len(vector) <= LARGEST:
                sql = _BY_GRAPH.format(size=len(vector), low=low, high=high, followed=FOLLOWED)
                rows += self.db.query(sql, asked)
            elif size:
                code = Bits(code_of(vector, self.center).tobytes())
                rows += self.db.query(_BY_CODE, given | {"code": code, "looked_at": MORE * first_look(size)})
        cosines = _best(rows)
        return {number: cosines[number] for number in sorted(cosines, key=cosines.__getitem__, reverse=True)[:most]}

    def cosines(self, vector: Any, numbers: Collection[int]) -> dict[int, float]:
        """Return, for each record, the best cosine of its passages to a unit vector."""
        if not numbers:
            return {}
        return _best(self.db.query(_OF, {"vector": _halves(vector), "numbers": json.dumps(list(numbers))}))

    def _records(self, spans: Sequence[Span]) -> list[int]:
        each = [{"first": low >> PROJECT_BITS, "last": high >> PROJECT_BITS} for low, high in spans]
        return [int(rows[0][0]) for rows in query_each(self.db, _RECORDS, each)]


def vector_search(store: Journal, center: Any) -> Codes | Neighbours:
    """Return the vector search for this database."""
    return Neighbours(store.db, center) if store.db.dialect == "postgres" else Codes(store.db, center)


def _halves(vector: Any) -> Halves:
    return Halves(np.asarray(vector, dtype=np.float16).tobytes())


def _best(rows: Sequence[Row]) -> dict[int, float]:
    """Return the cosine of each record's best passage."""
    found: dict[int, float] = {}
    for row in rows:
        found[row[0]] = max(row[1], found.get(row[0], -1.0))
    return found


_RECORDS = "select coalesce(sum(records), 0) from projects where number between :first and :last"
_NUMBERS = "number in (select cast(value as bigint) from json_each(:numbers))"
# The operator `<#>` returns the negative inner product.
_OF = f"select number, max(-(vector <#> :vector)) from vectors where {_NUMBERS} group by number"
_AMONG = f"{_OF} order by 2 desc limit :most"
_BY_CODE = """
with looked_at as materialized (
    select number, passage from vectors where number between :low and :high order by code <~> :code limit :looked_at
)
select vectors.number, max(-(vector <#> :vector))
from looked_at join vectors on vectors.number = looked_at.number and vectors.passage = looked_at.passage
group by vectors.number order by 2 desc limit :most
"""
# The graph returns neighbours in approximate order, so more are read than needed and the best are taken afterwards.
# The bounds are part of the SQL text, not parameters: a plan made without them would read every vector.
_BY_GRAPH = """
with followed as materialized (
    select number, -(vector::halfvec({size}) <#> :vector) as cosine from vectors where number between {low} and {high}
    order by vector::halfvec({size}) <#> :vector limit {followed}
)
select number, max(cosine) from followed group by number order by 2 desc limit :most
"""
