"""Write the address of the repository wherever it is named: `python3 dev.py address OWNER/NAME`.

`[project.urls]` of pyproject.toml is the place that counts; until the project has an address, it names OWNER/REPO.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOWHERE = "OWNER/REPO"


def address() -> str:
    """Return the address of the repository: its owner and name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["urls"]["Homepage"]).removeprefix("https://github.com/")


def main() -> int:
    """Replace the address in every file that names it, or only print it."""
    if len(sys.argv) < 2:
        print(address())
        return int(address() == NOWHERE)
    new, old = sys.argv[1], re.compile(rf"(?<![\w.-]){re.escape(address())}(?![\w-])")
    if not re.fullmatch(r"[\w-]+/[\w.-]+", new):
        print("An address is OWNER/NAME.")
        return 64
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for file in (ROOT / name for name in listed.splitlines() if name.endswith((".md", ".toml", ".json", ".yml"))):
        text = file.read_text(encoding="utf-8")
        if (changed := old.sub(new, text)) != text:
            file.write_text(changed, encoding="utf-8")
            print(file.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
