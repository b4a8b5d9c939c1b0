"""Golden texts of a kind, packed in one file: each is a line `=== NAME` and the lines after it.

After a deliberate change of words: BAYESDP_REFRESH_GOLDEN=1, run the tests of that kind in one
process, and read the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

REFRESH = os.environ.get("BAYESDP_REFRESH_GOLDEN") == "1"
FOLDER = Path(__file__).parent
HEAD = re.compile(r"^=== (\S+)\n", re.MULTILINE)


class Packed:
    """The texts of the file `KIND.txt`, sorted by name."""

    def __init__(self, kind: str, folder: Path = FOLDER) -> None:
        self.path = folder / f"{kind}.txt"

    def texts(self) -> dict[str, str]:
        """Each text by its name. `ValueError` where the file holds more, or is not sorted."""
        packed = self.path.read_text(encoding="utf-8")
        before, *parts = HEAD.split(packed)
        texts = dict(zip(parts[::2], parts[1::2], strict=True))
        if before or packed != written(texts):
            raise ValueError(f"{self.path} holds more than texts sorted by name, each of them once")
        return texts

    def compare(self, name: str, said: str) -> None:
        """The text must be the golden one."""
        texts = self.texts()
        if REFRESH:
            self.path.write_text(written(texts | {name: said}), encoding="utf-8")
            return
        assert said == texts[name]


def written(texts: dict[str, str]) -> str:
    """The texts as the file holds them. `ValueError` for one that would be read as two."""
    for name, text in texts.items():
        if not text.endswith("\n") or HEAD.search(text):
            raise ValueError(f"{name}: a text ends with its line, and no line begins with '=== '")
    return "".join(f"=== {name}\n{text}" for name, text in sorted(texts.items()))
