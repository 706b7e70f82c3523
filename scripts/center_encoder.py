"""Writes center.npy beside the built-in encoder: where the vectors of ordinary technical text lie on average.

python3 dev.py uv run python scripts/center_encoder.py

The text is Python's own manual, so that anybody gets the same result. Run it after `prepare_encoder.py`.
"""

from pathlib import Path
from pydoc_data.topics import topics
from random import Random

import numpy as np

from holdfast.adapters.embedders import local

PARAGRAPHS = 256


def main() -> None:
    """Embed some paragraphs and keep their mean."""
    paragraphs = [part.strip() for topic in sorted(topics) for part in topics[topic].split("\n\n")]
    usable = [part for part in paragraphs if 60 < len(part) < 600]
    chosen = Random(1).sample(usable, PARAGRAPHS)
    center = np.mean([made.vector for made in local.LocalEmbedder().embed(chosen)], axis=0).astype(np.float32)
    target = Path(local.__file__).parent / local.MODEL / "center.npy"
    np.save(target, center)
    print(f"{target.name}: length {np.linalg.norm(center):.3f} from {PARAGRAPHS} paragraphs")


if __name__ == "__main__":
    main()
