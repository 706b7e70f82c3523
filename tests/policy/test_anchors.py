"""Which places a text names, and which only look like places."""

from holdfast.policy.mentions import anchors_in
from tests.rows import each


@each(
    ("text", "places"),
    [
        ("The retry loop is in `src/pay.py::retry`.", ["src/pay.py::retry"]),
        ("See src/pay.py:12 and `lib/shop.ts:L3-L9`.", ["lib/shop.ts:L3-L9", "src/pay.py:12"]),
        ("`settings.py::LIMIT=5` is the most.", ["settings.py::LIMIT=5"]),
        ("Edit `Makefile`, then ./scripts/build.sh.", ["Makefile", "scripts/build.sh"]),
        ("`app.py` imports `./lib/app.py`", ["app.py", "lib/app.py"]),
        ("Written in node.js, deployed with next.js.", []),
        ("POST /api/users.json returns 201; GET /v1/items", []),
        ("Run /compact or /review-pr first.", []),
        ("See https://example.org/docs/intro.html and git@host.org:acme/shop.py", []),
        ("For instance path/to/file.py, `foo/bar.py`, your/module.py, <name>/x.py, src/*.py", []),
        ("and/or, 2024/01/02, origin/main, 3.5/7.2, v1.2.3", []),
        ("It is `a.py`" + "".join(f" and `b{n}.py`" for n in range(20)), ["a.py", *(f"b{n}.py" for n in range(7))]),
    ],
)
def test_only_places_are_found(text: str, places: list[str]) -> None:
    assert anchors_in(text) == places
