"""Translate the SQL that both engines share into PostgreSQL's dialect: parameters, lists and types."""

import re
from functools import lru_cache

# The schema uses SQLite's type names; these types have the same widths. Texts are compared byte by byte, as in SQLite,
# because ids are looked up by ranges.
_TYPES = {"integer": "bigint", "blob": "bytea", "real": "double precision"}
_TYPE = re.compile(r"\b(integer|blob|real)\b")
_TEXT = re.compile(r"\btext (not null|primary key)")
_IN_LIST = re.compile(r"(?<!not )\bin \(select (value|cast\(value as bigint\)) from json_each\((:\w+)\)\)")
_LIST = re.compile(r"json_each\((:\w+)\)")
_TO_LIST = re.compile(r"json_group_array\(([^()]+)\)")
# Quoted text is matched first, so that nothing in it is mistaken for a parameter; `::` is a cast.
_PARAMETER = re.compile(r"'[^']*'|::|:([a-z_][a-z_0-9]*)")


@lru_cache(maxsize=512)
def statement(sql: str) -> bytes:
    """Return a statement with psycopg's parameters (`%(name)s`) and PostgreSQL's functions.

    A list becomes an array, which is built before any row is read. With a join on its elements, PostgreSQL would read a
    whole table that has row policies: the cast could leak rows through its errors, so it must run after the policies.
    """
    sql = _IN_LIST.sub(r"= any (array(select \1 from json_each(\2)))", sql.replace("%", "%%"))
    sql = _LIST.sub(r"json_array_elements_text(cast(\1 as json))", sql)
    sql = _TO_LIST.sub(r"coalesce(cast(json_agg(\1) as text), '[]')", sql)
    sql = sql.replace("instr(", "strpos(")
    return _PARAMETER.sub(lambda match: f"%({match[1]})s" if match[1] else match[0], sql).encode()


def schema(sql: str) -> str:
    """Return the statements of a schema with PostgreSQL's types."""
    typed = _TYPE.sub(lambda match: _TYPES[match[0]], sql)
    return _TEXT.sub(r'text collate "C" \1', typed)
