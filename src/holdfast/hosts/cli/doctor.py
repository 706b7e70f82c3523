"""`holdfast doctor`, `status` and `config`: what works, what is stored and what is set."""

import re
from dataclasses import fields

from holdfast.compose.adapters import missing_grammars
from holdfast.compose.settings import keep_settings, user_file
from holdfast.hosts.cli.command import Result, opened, present, settings
from holdfast.hosts.cli.render import page, working
from holdfast.model.config import Config, meanings
from holdfast.model.errors import HoldfastError, Invalid, InvalidConfig
from holdfast.model.trail import DAYS, MOST
from holdfast.verbs.memory import Memory
from holdfast.verbs.upkeep.doctor import Check, examine, status

BROKEN = 5  # the exit code if something does not work


def status_command(memory: Memory) -> Result:
    now = status(memory)
    return now, page("status", now, most=MOST, days=f"{DAYS:.0f}")


def doctor_command(*, as_json: bool = False) -> Result:
    problem: HoldfastError | None = None
    try:
        with opened() as memory, working("checking the store"):
            checks = list(examine(memory))
        if missing := missing_grammars():
            checks.append(Check("languages", f"the extra holdfast[languages] reads {', '.join(sorted(missing))}, too"))
    except HoldfastError as store_problem:
        problem = store_problem
        checks = [Check(name="store", found=problem.message, fix=problem.hint)]
    if not isinstance(problem, InvalidConfig):
        from holdfast.hosts.cli.setup import look_around
        from holdfast.hosts.setup.checks import client_checks

        try:
            here = look_around()
            checks += client_checks(here.machine, here.manifest)
        except HoldfastError as wrong:
            checks.append(Check(name="clients", found=wrong.message, fix=wrong.hint))
    if problem is None:
        return checks, page("doctor", checks), BROKEN if any(check.fix for check in checks) else 0
    present((checks, page("doctor", checks)), as_json=as_json)
    raise problem


def config_command(words: tuple[str, ...] = ()) -> Result:
    named = [part for word in words[words[:1] == ("set",) :] for part in word.split("=", 1)]
    if len(named) > 2 or (words[:1] == ("set",) and len(named) < 2):
        raise Invalid("A setting has a name and a value.", hint="Such as `holdfast config set recall_limit 5`.")
    if len(named) == 2:
        file = keep_settings({named[0]: named[1]})
        value = _printable(named[0], named[1])
        return {"file": str(file), named[0]: value}, f"{named[0]} = {value}, in {file}."
    current, said = settings(), meanings()
    if named and named[0] not in current.sources:
        raise Invalid(f"There is no setting {named[0]!r}.", hint="`holdfast config` lists them all.")
    settings_ = [
        {"name": spec.name, "help": said[spec.name], "source": current.sources[spec.name]}
        | {"value": value, "text": _text(value)}
        for spec in fields(Config)
        if not named or spec.name == named[0]
        for value in [_printable(spec.name, getattr(current.config, spec.name))]
    ]
    values = {one["name"]: {"value": one["value"], "source": one["source"]} for one in settings_}
    how = f"holdfast config set recall_limit 5 (in {user_file()}), or the variable HOLDFAST_RECALL_LIMIT=5"
    return values, page("config", settings_, how=how)


def _text(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.lower() if isinstance(value, bool) else text or "(empty)"


def _printable(name: str, value: object) -> object:
    """Return a value as it may be printed, without credentials."""
    if name in ("embedder_key", "observer_key", "http_token") and value:
        return "(set)"
    if name == "database":
        return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", str(value))
    return list(value) if isinstance(value, tuple) else value
