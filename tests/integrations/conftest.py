"""What tests of integrations share."""

import holdfast
from tests.rows import opened

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


SETTINGS = {"embedder": "none"}
memory = opened(lambda tmp_path: holdfast.open(tmp_path, home=tmp_path / "store", agent="claude", settings=SETTINGS))
