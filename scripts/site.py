"""What mkdocs asks while it builds the site: which pages are in the list on the left, and whether a page may stand."""

import re
from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """List the pages that are there: the decisions one by one, and what nobody listed at the end."""
    docs = Path(config["docs_dir"])
    there = sorted(str(page.relative_to(docs).as_posix()) for page in docs.rglob("*.md"))
    decisions = [page for page in there if page.startswith("decisions/")]
    nav = _present(config["nav"], set(there))
    for part in nav:
        if "Internals" in part:
            part["Internals"].append({"Decisions": decisions})
    if others := [page for page in there if page not in _listed(nav)]:
        nav.append({"More": others})
    config["nav"] = nav
    return config


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Refuse a page that would fetch something from elsewhere: the site works without a network."""
    del config
    if fetched := re.findall(r'(?:src=|<link[^>]+href=)"?(https?://[^"\s>]+)', output):
        raise SystemExit(f"{page.file.src_path} would fetch {', '.join(sorted(set(fetched)))}.")
    return output


def _present(nav: list[Any], there: set[str]) -> list[Any]:
    """Leave out pages that are not written yet."""
    kept: list[Any] = []
    for part in nav:
        match part:
            case dict():
                ((title, inner),) = part.items()
                found = _present(inner, there) if isinstance(inner, list) else inner if inner in there else None
                if found:
                    kept.append({title: found})
            case page if page in there:
                kept.append(page)
    return kept


def _listed(nav: Any) -> set[str]:
    match nav:
        case str():
            return {nav}
        case dict():
            return set().union(*map(_listed, nav.values()))
    return set().union(*map(_listed, nav))
