"""Terms of other languages match the same term in English, in an inflected form, in a compound and without spaces."""

from holdfast.engine.languages import english_of, is_foreign, terms_in
from holdfast.engine.tokens import query_terms, tokens
from tests.rows import each


@each(
    ("question", "memory"),
    [
        ("Wie oft wird die Datenbank gesichert?", "The database has a backup every night."),
        ("¿Dónde se guardan las copias de la base de datos?", "Database copies are stored on S3."),
        ("Où sont stockées les images des utilisateurs ?", "User images are stored on S3."),
        ("Onde fica a documentação do servidor?", "The documentation of the server is in the wiki."),
        ("Где хранятся пароли пользователей?", "User passwords are stored in Vault."),
        ("生产环境的数据库在哪里？", "The production database is in Frankfurt."),
        ("本番のデータベースはどこですか？", "The production database is in Frankfurt."),
        ("운영 데이터베이스는 어디에 있나요?", "The database is in Frankfurt."),
    ],
)
def test_a_question_shares_words_with_a_memory_in_english(question: str, memory: str) -> None:
    assert set(query_terms(question)) & set(tokens(memory))


def test_two_languages_meet_in_english() -> None:
    assert {"databas", "backup"} <= set(tokens("Die Datenbank wird jede Nacht gesichert.")) & set(
        query_terms("数据库多久备份一次？")
    )


def test_a_compound_has_the_words_of_its_parts() -> None:
    assert [words[0] for words in english_of("datenbankschema")] == ["database", "schema"]
    assert [words[0] for words in english_of("rechnungsnummer")] == ["invoice", "number"]


def test_an_ending_may_follow_a_term_but_not_another_word() -> None:
    assert english_of("rechnungen") == english_of("rechnung") != ()
    assert english_of("rechnungsabgrenzungsposten") == ()


def test_english_text_is_left_as_it_is() -> None:
    assert tokens("The data of the last file in the range is on the land of the handler.") == [
        *"the data of the last file in the rang is on the land of the handler".split()
    ]


def test_text_without_spaces_is_cut_at_terms() -> None:
    assert list(terms_in("把数据库备份到云")) == [
        ("把", ()),
        ("数据库", (("database",),)),
        ("备份", (("backup",),)),
        ("到云", ()),
    ]


@each(
    ("text", "foreign"),
    [
        ("Which port does the server use?", False),
        ("for x in y: o.run(e)", False),
        ("https://github.com/acme/shop", False),
        ("Welchen Port nutzt der Server?", True),
        ("¿Qué puerto usa el servidor?", True),
        ("服务器用哪个端口？", True),
    ],
)
def test_the_language_is_told_by_script_and_function_words(text: str, foreign: bool) -> None:
    assert is_foreign(text) == foreign
