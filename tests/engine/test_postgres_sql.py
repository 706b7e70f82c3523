"""SQL that both engines share, in the words of PostgreSQL."""

from holdfast.engine.postgres.sql import schema, statement
from tests.rows import each


@each(
    ("shared", "native"),
    [
        ("select :a, :b_2", "select %(a)s, %(b_2)s"),
        ("select cast(1 as text)::int, :a::text", "select cast(1 as text)::int, %(a)s::text"),
        ("select 'at:noon', 'it''s :a', :a", "select 'at:noon', 'it''s :a', %(a)s"),
        ("select 5 % :a where x like '%:y'", "select 5 %% %(a)s where x like '%%:y'"),
        (
            "id in (select value from json_each(:ids))",
            "id = any (array(select value from json_array_elements_text(cast(%(ids)s as json))))",
        ),
        (
            "n in (select cast(value as bigint) from json_each(:ns))",
            "n = any (array(select cast(value as bigint) from json_array_elements_text(cast(%(ns)s as json))))",
        ),
        (
            "id not in (select value from json_each(:ids))",
            "id not in (select value from json_array_elements_text(cast(%(ids)s as json)))",
        ),
        ("select json_group_array(n - :low)", "select coalesce(cast(json_agg(n - %(low)s) as text), '[]')"),
        ("where instr(data, :piece) > 0", "where strpos(data, %(piece)s) > 0"),
    ],
)
def test_a_statement_is_written_with_the_words_of_postgresql(shared: str, native: str) -> None:
    assert statement(shared).decode() == native


def test_a_schema_gets_types_of_the_same_width_and_texts_that_compare_by_bytes() -> None:
    shared = "create table t (n integer primary key, id text not null, said text, body blob not null, x real);\n"
    assert schema(shared) == (
        'create table t (n bigint primary key, id text collate "C" not null, said text, body bytea not null, '
        "x double precision);\n"
    )
