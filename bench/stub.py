"""A memory server that loses half of what it acknowledges, to check the harness that compares servers."""

import json
import sys
from pathlib import Path

from bench.stdio import System

STUB = System(
    start=(sys.executable, "-m", "bench.stub"),
    variables={"PYTHONPATH": str(Path(__file__).parent.parent)},
    write=("save", lambda text: {"text": text}),
    search=("find", lambda text: {"query": text}),
    saved="saved",
    hooks={"SessionStart": ("cat",)},
    remark="a substring",
)


def serve(file: Path) -> None:
    """Answer on stdin and stdout, with lines of a log between; every second text is written to the file."""
    texts = file.read_text(encoding="utf-8").split("|") if file.exists() else []
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        given = asked["params"].get("arguments", {})
        found = [text for text in texts if given.get("query", "-") in text]
        result = {"tools": [{"name": "save"}, {"name": "find"}], "content": found}
        if "text" in given:
            result["content"] = ["saved"]
            texts.append(given["text"])
            if len(texts) % 2:
                file.write_text("|".join(texts), encoding="utf-8")
        answer = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result})
        print("a line of a log", answer, sep="\n", flush=True)


if __name__ == "__main__":
    serve(Path.home() / "kept.txt")
