"""One text out of several that say nearly the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.policy.language.contradict import contradicts
from holdfast.policy.language.merge import Merged, Outdated, Part, Version, merge, says_the_same
from tests.rows import each


def version(id: str, text: str, at: str = "2026-01-01", similarity: float = 1.0) -> Version:  # noqa: A002
    return Version(id=id, text=text, at=at, similarity=similarity)


def test_what_only_one_version_says_is_added_to_the_one_that_says_most() -> None:
    merged = merge([
        version("a", "Deploys need a green build. Ask Noor for access to ArgoCD.", "2026-01-01"),
        version("b", "Deploys need a green build, and two approvals in ArgoCD before 16:00.", "2026-02-01"),
    ])  # fmt: skip
    assert merged == Merged(
        text="Deploys need a green build, and two approvals in ArgoCD before 16:00. Ask Noor for access to ArgoCD.",
        base="b",
        sources=("a", "b"),
        added=(Part(id="a", sentence="Ask Noor for access to ArgoCD."),),
    )


def test_the_same_thing_in_other_words_is_said_once() -> None:
    merged = merge([
        version("a", "The importer retries three times."),
        version("b", "The importer makes 3 retries", "2026-03-01"),
    ])  # fmt: skip
    assert merged == Merged(text="The importer retries three times.", base="a", sources=("a", "b"))


def test_what_a_newer_version_contradicts_is_left_out_and_named() -> None:
    older = "The cache lives for 10 minutes. It is keyed by tenant and by path, since two tenants share a host."
    newer = "The cache lives for 30 minutes."
    merged = merge([version("a", older, "2026-01-01"), version("b", newer, "2026-02-01")])
    contradiction = contradicts("The cache lives for 10 minutes.", newer)
    assert contradiction is not None
    assert merged == Merged(
        text="The cache lives for 30 minutes. It is keyed by tenant and by path, since two tenants share a host.",
        base="b",
        sources=("a", "b"),
        added=(Part(id="a", sentence="It is keyed by tenant and by path, since two tenants share a host."),),
        outdated=(Outdated(part=Part(id="a", sentence="The cache lives for 10 minutes."), by=contradiction),),
    )


def test_a_number_nobody_else_names_is_never_lost() -> None:
    merged = merge([
        version("a", "The export job writes parquet to the lake every night and mails the data team."),
        version("b", "The export job writes parquet to the lake at 03:15."),
    ])  # fmt: skip
    assert merged is not None
    assert merged.added == (Part(id="b", sentence="The export job writes parquet to the lake at 03:15."),)


def test_a_list_stays_a_list() -> None:
    merged = merge([
        version("a", "- Run the linter.\n- Bump the version in pyproject.toml.\n- Tag the commit on main."),
        version("b", "Run the linter. Tell #releases when the wheel is up."),
    ])  # fmt: skip
    assert merged is not None
    assert merged.text == (
        "- Run the linter.\n- Bump the version in pyproject.toml.\n- Tag the commit on main.\n"
        "- Tell #releases when the wheel is up."
    )


def test_fewer_than_two_near_texts_are_not_merged() -> None:
    assert merge([]) is None
    assert merge([version("a", "x y z")]) is None
    assert merge([version("a", "x y z"), version("b", "q", similarity=0.1)]) is None


@settings(max_examples=100)
@given(st.lists(st.text(max_size=60), min_size=2, max_size=4))
def test_any_texts_can_be_merged_and_all_are_named_as_sources(texts: list[str]) -> None:
    merged = merge([version(str(place), text) for place, text in enumerate(texts)])
    assert merged is not None
    assert sorted(merged.sources) == [str(place) for place in range(len(texts))]


@each(
    ("older", "newer"),
    [
        ("Tokens expire after 24 hours.", "Tokens expire after one day."),
        ("The API server listens on port 8080.", "Port 8080 is where the API server listens."),
        ("Uploads go to S3.", "Uploads go to S3, into one bucket a tenant."),
        ("The job retries. Ask Noor about it.", "The job retries. The queue is in Redis."),
        ("The cache lives for 10 minutes. The cache is keyed by path.", "The cache lives for 30 minutes."),
    ],
)
def test_texts_about_one_thing_could_be_one_text(older: str, newer: str) -> None:
    assert says_the_same(older, newer)


@each(
    ("older", "newer"),
    [
        ("src/api/client.ts retries failed requests.", "src/api/upload.ts retries failed requests."),
        ("On staging the log level is debug.", "The log level is debug."),
        ("Mocks are allowed in unit tests.", "Mocks are not allowed in integration tests."),
        ("READ_TIMEOUT defaults to 10", "WRITE_TIMEOUT defaults to 30"),
        ("The cache lives for 10 minutes.", "The cache lives for 30 minutes."),
        ("Tax is calculated in Avalara.", "The footer is not sticky."),
    ],
)
def test_texts_about_two_things_or_against_each_other_could_not(older: str, newer: str) -> None:
    assert not says_the_same(older, newer)
