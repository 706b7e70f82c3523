"""Import the data of another system with its original times. Idempotent: a second import changes nothing."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from holdfast.engine.raw import transcripts
from holdfast.engine.views import records
from holdfast.model.errors import Ambiguous, Invalid
from holdfast.model.event import Event
from holdfast.model.ids import named_id
from holdfast.model.record import Record, fold
from holdfast.model.replica import Foreign, ForeignEvent, ForeignLink, ForeignSession, ForeignTranscript, Item, Remark
from holdfast.model.text import check_keepable
from holdfast.policy.admission import adopt
from holdfast.policy.ranking.weight import base_trust
from holdfast.policy.secrets.find import masked
from holdfast.verbs.exchange.incoming import marks_of
from holdfast.verbs.memory import Memory
from holdfast.verbs.records.project import project_called
from holdfast.verbs.sessions.transcript import save_transcript

BATCH = 500
ERASED = "it was erased here"


@dataclass(slots=True, kw_only=True)
class Report:
    """What an import did, or would do: everything in the source is in one of these fields."""

    system: str
    taken: list[dict[str, str]] = field(default_factory=list)  # their key there, their id here, and what they are
    projects: dict[str, Counter[str]] = field(default_factory=dict)  # there → here → memories, known ones included
    revised: list[dict[str, str]] = field(default_factory=list)
    merged: list[dict[str, str]] = field(default_factory=list)
    known: int = 0
    moved: int = 0  # known ones that are in another project now
    masked: int = 0
    events: dict[str, int] = field(default_factory=dict)  # by verb, but for those that create records
    transcripts: int = 0
    asides: list[Remark] = field(default_factory=list)
    skipped: list[Remark] = field(default_factory=list)


def import_items(
    memory: Memory,
    system: str,
    items: Iterable[Item],
    *,
    project: str = "",
    mapped: Mapping[str, str] | None = None,
    dry_run: bool = False,
    quarantine_as: str = "",
    progress: Callable[[int], None] = lambda _: None,
) -> Report:
    """Import the items of a reader, batch by batch; it can be repeated or resumed.

    `mapped` gives the projects here for names of projects there. `quarantine_as` names the source if it is not the user's own:
    its memories are quarantined.
    """
    homes = {there: project_called(memory, here) for there, here in (mapped or {}).items()}
    intake = _Import(memory, Report(system=system), project, homes, dry_run, quarantine_as)
    source, done = iter(items), 0
    while page := list(islice(source, BATCH)):
        intake.take(page)
        done += len(page)
        progress(done)
    return intake.finish()


@dataclass(slots=True)
class _Import:
    memory: Memory
    report: Report
    project: str
    mapped: Mapping[str, str]
    dry_run: bool
    quarantine_as: str
    ids: dict[str, str] = field(default_factory=dict)  # key there → id here
    texts: dict[tuple[str, str, str], str] = field(default_factory=dict)  # project, kind and fingerprint → id
    fresh: dict[str, Record] = field(default_factory=dict)  # records as this batch leaves them, not committed yet
    # Links by the key of their missing target.
    waiting: dict[str, list[tuple[adopt.Adoption, ForeignLink]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)  # events by verb

    def take(self, page: Sequence[Item]) -> None:
        """Import a batch in a single transaction."""
        adoptions = [adoption for item in page if isinstance(item, Foreign) for adoption in self._adoptions(item)]
        events = [*self._adopt(adoptions), *self._links(adoptions)]
        for item in page:
            match item:
                case ForeignSession():
                    events += self._keepable(item.where, self._session(item))
                case ForeignEvent():
                    events += self._keepable(item.where, self._happened(item))
                case Remark():
                    self.report.skipped.append(item)
        known = self.memory.store.events_with([event.id for event in events])
        fresh = {event.id: event for event in events if event.id not in known}
        self.counts.update(event.verb for event in fresh.values() if event.data.get("outcome") != adopt.CREDITED)
        if fresh and not self.dry_run:
            self.memory.clock.observe(max(fresh))
            events = list(fresh.values())
            marks = marks_of(self.memory, events, self.quarantine_as, "import") if self.quarantine_as else []
            self.memory.commit([*marks, *events])
        for item in page:
            if isinstance(item, ForeignTranscript):
                self._said(item)

    def _keepable(self, where: str, events: list[Event]) -> list[Event]:
        try:
            for event in events:
                check_keepable([event.about, event.by.name, event.by.session, event.data])
        except Invalid as problem:
            return self._skip(where, problem.message)
        return events

    def _skip(self, where: str, why: str) -> list[Event]:
        """Report what is left out, and why; return that nothing comes of it."""
        self.report.skipped.append(Remark(where=where, why=why))
        return []

    def finish(self) -> Report:
        """Return the report; links without a target are skipped."""
        for key, left in self.waiting.items():
            for adoption, link in left:
                self._skip(adoption.foreign.where, f"it points at {key} ({link.relation}), which is not there")
        verbs = ("started", "closed", "linked", "used", "surfaced", "touched", "heated", "trusted")
        return replace(
            self.report,
            projects=dict(sorted(self.report.projects.items())),
            events={verb: self.counts[verb] for verb in verbs if self.counts[verb]},
            asides=[*map(_printable, self.report.asides)],
            skipped=[*map(_printable, self.report.skipped)],
        )

    def _adoptions(self, foreign: Foreign) -> list[adopt.Adoption]:
        """Return the records that a memory becomes; more than one if its text is too long for a record."""
        parts = adopt.fitted(foreign)
        if isinstance(parts, Remark):
            self.report.skipped.append(parts)
            return []
        self.report.asides += [Remark(where=foreign.where, why=why) for part in parts for why in part.asides]
        home, now, system = self._home(foreign.draft.project), self.memory.clock.now(), self.report.system
        self.report.projects.setdefault(foreign.draft.project or "", Counter())[home] += 1
        later = replace(foreign, links=(ForeignLink(relation="elaborates", key=foreign.key),))
        pairs = ((part, foreign if part.key == foreign.key else later) for part in parts)
        return [adopt.Adoption(system=system, foreign=of, part=part, project=home, now=now) for part, of in pairs]

    def _home(self, project: str | None) -> str:
        """Return the project here: as mapped, or the only one that ends in a name of the other system."""
        if project is not None and project in self.mapped:
            return self.mapped[project]
        home = adopt.home_of(project, self.project or self.memory.project, chosen=bool(self.project))
        with suppress(Ambiguous):
            return project_called(self.memory, home) if home and "/" not in home else home
        return home

    def _adopt(self, adoptions: Sequence[adopt.Adoption]) -> list[Event]:
        self.fresh = self.memory.known(adoption.about for adoption in adoptions)
        new = [adoption.credit for adoption in adoptions if adoption.about not in self.fresh]
        credited = self.memory.store.events_with(new) if new else {}
        events: list[Event] = []
        for adoption in adoptions:
            credit = credited.get(adoption.credit)
            if record := self.fresh.get(adoption.about):
                events += self._known(adoption, record, events)
            elif credit and credit.data.get("hash") in (None, adoption.part.hash):
                # Another record was credited with it; after that one's erasure only the outcome is left.
                if "hash" in credit.data:
                    self.ids[adoption.part.key] = credit.about
                    self.report.known += 1
                else:
                    self._skip(adoption.foreign.where, ERASED)
            elif self.dry_run and adoption.part.key in self.ids:  # seen in an earlier batch, which was not committed
                self.report.known += 1
            else:
                events += self._new(adoption)
        return events

    def _note(self, found: list[dict[str, str]], adoption: adopt.Adoption, record_id: str) -> None:
        """Report a memory as what was found of it, and remember its id here."""
        self.ids[adoption.part.key] = record_id
        named = {name: adoption.part.data[name] for name in ("kind", "title")}
        found.append({"key": adoption.part.key, "id": record_id, **named, "project": adoption.project})

    def _known(self, adoption: adopt.Adoption, record: Record, batch: Sequence[Event]) -> list[Event]:
        """Return the events of what changed there since the last import."""
        if record.state == "erased":
            return self._skip(adoption.foreign.where, ERASED)
        if record.project != adoption.project and adoption.foreign.draft.project in self.mapped:
            self.report.moved += 1
            moved = adoption.event("revised", {"project": adoption.project}, what=adoption.project, after=record.head)
            self.fresh[adoption.about] = after = _after(record, [moved])
            return [moved, *self._known(adoption, after, [*batch, moved])]
        imported = record.extra.get("imported")
        same = isinstance(imported, dict) and imported.get("hash") == adoption.part.hash
        if same:
            self.ids[adoption.part.key] = adoption.about
            self.report.known += 1
            if record.state == adoption.foreign.state and adoption.foreign.verified_at <= record.verified_at:
                return []
        past = self.memory.store.events_about(adoption.about) or [one for one in batch if one.about == adoption.about]
        if same:
            return adopt.state_events(adoption, record, past)
        self._note(self.report.revised, adoption, adoption.about)
        self.report.masked += adoption.part.masked
        changed = adopt.change_events(adoption, record, past)
        return [*changed, *adopt.state_events(adoption, _after(record, changed), past)]

    def _new(self, adoption: adopt.Adoption) -> list[Event]:
        events = adopt.creation_events(adoption)
        record = _after(None, events)
        if adoption.foreign.state == "active" and (same := self._same(record)):
            self._note(self.report.merged, adoption, same)
            if other := self.fresh.get(same) or self.memory.known([same]).get(same):
                events = adopt.credit(adoption, other)
                self.fresh[same] = _after(other, [event for event in events if event.verb == "revised"])
                return events
            return []  # a dry run commits nothing, so the record does not exist
        self._note(self.report.taken, adoption, adoption.about)
        self.fresh[adoption.about] = record
        self.report.masked += adoption.part.masked
        there = adoption.foreign.trust
        delta = 0.0 if there is None else round(min(1.0, max(0.0, there)) - base_trust(record), 4)
        trust = [adoption.event("trusted", {"reason": "imported", "delta": delta}, after=record.head)] if delta else []
        return [*events, *trust]

    def _same(self, record: Record) -> str:
        key = record.project, record.kind, records.fingerprint(record)
        if key in self.texts:
            return self.texts[key]
        for other in (entry.record for entry in records.with_fingerprint(self.memory.store, key[-1])):
            if other.state == "active" and (other.project, other.kind) == key[:2]:
                return other.id
        self.texts[key] = record.id
        return ""

    def _links(self, adoptions: Sequence[adopt.Adoption]) -> list[Event]:
        known = [adoption for adoption in adoptions if adoption.part.key in self.ids]
        pairs = [(adoption, link) for adoption in known for link in adoption.foreign.links]
        pairs += [pair for adoption in known for pair in self.waiting.pop(adoption.part.key, [])]
        events = []
        for adoption, link in pairs:
            source, target = self.ids[adoption.part.key], self.ids.get(link.key)
            if target is None:
                self.waiting.setdefault(link.key, []).append((adoption, link))
            elif target != source:
                events.append(adopt.linked(adoption, link, source, target))
        return events

    def _session(self, item: ForeignSession) -> list[Event]:
        name, by = f"{self.report.system}\nsession\n{item.id}", replace(item.by, session=item.id)
        extra = {"imported": {"system": self.report.system, **item.extra}}
        facts = {"project": self._home(item.project), "title": item.title, "issue": item.issue}
        data = masked({key: value for key, value in facts.items() if value} | extra)
        start = named_id(f"{name}\nstarted", item.at)
        at = item.at or self.memory.clock.now()
        events = [Event(id=start, about=item.id, verb="started", at=at, by=by, data=data)]
        if item.closed_at:
            left = {what: self.ids[key] for what, key in item.left.items() if key in self.ids}
            close = masked({**item.close, **left})
            end = named_id(f"{name}\nclosed", item.closed_at, start)
            events.append(Event(id=end, about=item.id, verb="closed", at=item.closed_at, by=by, data=close))
        return events

    def _happened(self, item: ForeignEvent) -> list[Event]:
        ids = [self.ids[key] for key in item.of if key in self.ids]
        gone = [key for key in item.of if key not in self.ids]
        if not ids and gone:
            return self._skip(item.where, f"it is about {', '.join(gone[:3])}, which is not there")
        data = masked(dict(item.data) | ({"gone": gone} if gone else {}))
        name, at = f"{self.report.system}\n{item.verb}\n{item.key}", item.at or self.memory.clock.now()
        abouts = {about: f"{name}\n{about}" for about in ids}
        if item.verb == "surfaced":  # it is about the session, the others are about each record
            abouts, data = {item.by.session or self.report.system: name}, {**data, "ids": ids}
        return [
            Event(id=named_id(own, item.at), about=about, verb=item.verb, at=at, by=item.by, data=data)
            for about, own in abouts.items()
        ]

    def _said(self, item: ForeignTranscript) -> None:
        lines = [json.dumps({**turn, "imported": self.report.system}, ensure_ascii=False) for turn in item.turns]
        text = masked("\n".join(lines)).strip()
        try:
            check_keepable([item.session, text])
            before = transcripts.get(self.memory.store, item.session)
            if before and before.body == text:
                return
            if before and '"imported"' not in before.body.split("\n", 1)[0]:
                self._skip(item.where, "the session has a transcript of its own")
                return
            if not self.dry_run:
                save_transcript(self.memory, text, session=item.session, form="json")
            self.report.transcripts += 1
        except Invalid as problem:
            self._skip(item.where, problem.message)


def _printable(remark: Remark) -> Remark:
    """Return a remark that any terminal can print, even with invalid bytes in its names."""
    where, why = (text.encode(errors="replace").decode() for text in (remark.where, remark.why))
    return Remark(where=where, why=why)


def _after(record: Record | None, events: Iterable[Event]) -> Record:
    for event in events:
        record = fold(record, event)
    assert record is not None
    return record
