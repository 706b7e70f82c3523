"""What a page lists as a file: CSV for spreadsheets, JSON for programs."""

import csv
import io
from collections.abc import Mapping, Sequence

from starlette.responses import JSONResponse, PlainTextResponse, Response

from holdfast.hosts.web.viewer import Ask
from holdfast.model.errors import Invalid

MOST_ROWS = 20_000


def is_wanted(ask: Ask) -> bool:
    """True if the address asks for a file instead of a page."""
    return bool(ask.text("format"))


def download(
    ask: Ask, name: str, rows: Sequence[Mapping[str, object]], records: Sequence[object] | None = None
) -> Response:
    """Return rows as a file; too many are refused, never cut. JSON has whole records instead, if they are given."""
    if len(rows) > MOST_ROWS:
        hint = "Narrow it with filters; `holdfast store export` writes everything."
        raise Invalid(f"{len(rows):,} rows are too many for one file of {MOST_ROWS:,}.", hint=hint)
    kind = ask.text("format", "csv")
    if kind not in ("csv", "json"):
        raise Invalid(f"There is no format {kind[:40]!r}.", hint="Use csv or json.")
    headers = {"content-disposition": f'attachment; filename="{name}.{kind}"'}
    if kind == "json":
        return JSONResponse({"rows": rows} if records is None else {"records": records}, headers=headers)
    return PlainTextResponse(as_csv(rows), headers=headers, media_type="text/csv")


def as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as CSV; a cell that a spreadsheet would run as a formula begins with a quote."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(rows[0] if rows else ())
    for row in rows:
        cells = (" ".join(value) if isinstance(value, (tuple, list)) else str(value) for value in row.values())
        writer.writerow("'" + cell if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell for cell in cells)
    return text.getvalue()
