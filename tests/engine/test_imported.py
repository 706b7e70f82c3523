"""Records by the id they had elsewhere, on both engines."""

from holdfast.engine.raw.imported import by_foreign_id
from holdfast.engine.store import Store
from holdfast.model.ids import Clock
from tests.conftest import recorded


def test_a_foreign_id_is_found_whole_or_by_its_beginning(store: Store) -> None:
    clock = Clock()
    ids = ("learning:a1b2c3d4-1", "a1b2c3d4-2", "50%_off", 7, "observation:s-1:17", "summary:s-1:17")
    store.commit([recorded(clock, f"thing {one}", extra={"imported": {"system": "x", "id": one}}) for one in ids])
    store.commit([recorded(clock, "mentions imported a1b2c3d4-1")])

    def found(reference: str, *, whole: bool = False, system: str = "") -> list[str]:
        return [entry.record.body for entry in by_foreign_id(store, reference, whole=whole, system=system)]

    assert found("A1B2C3D4") == ["thing learning:a1b2c3d4-1", "thing a1b2c3d4-2"]
    assert found("a1b2c3d4-2") == ["thing a1b2c3d4-2"]
    assert found("50%_o") == ["thing 50%_off"]
    assert (found("7"), found("7", whole=True), found("a1b2", whole=True)) == ([], ["thing 7"], [])
    assert found("b2c3") == []
    assert found("17", whole=True, system="x") == ["thing observation:s-1:17", "thing summary:s-1:17"]
    assert found("observation:s-1:17") == ["thing observation:s-1:17"]
    assert found("17", whole=True, system="y") == []
