"""Write the generated part of docs/notions.md from the catalogue of notions.

Run `python tools/make_notion_docs.py` after changing the catalogue; a test compares the two.
"""

from __future__ import annotations

from pathlib import Path

from bayesdp.notions import CATALOGUE, PrivacyNotion

PAGE = Path(__file__).resolve().parent.parent / "docs" / "notions.md"
BEGIN = "<!-- from the catalogue: tools/make_notion_docs.py -->"
END = "<!-- end of the catalogue -->"
SCOPES = {"population": "one population", "family": "a family", "all": "every population"}


def generated() -> str:
    """The table of all notions, and a section for each."""
    rows = ["| key | notion | level | holds for | delta |", "|---|---|---|---|---|"]
    for key, notion in CATALOGUE.items():
        level = "0 or more nats" if notion.unit == "nats" else "0 to 1"
        scope = "whatever the population" if not notion.relative else _scopes(notion)
        rows.append(
            f"| [`{key}`](#{key}) | {notion.title} | {level} | {scope} | "
            f"{'yes' if notion.with_delta else 'no'} |"
        )
    return "\n".join([*rows, "", *(section(notion) for notion in CATALOGUE.values())])


def _scopes(notion: PrivacyNotion) -> str:
    return " or ".join(SCOPES[scope] for scope in notion.scopes)


def section(notion: PrivacyNotion) -> str:
    """One notion: the condition, what it ranges over, and an example level in words."""
    example, size = (0.2, None) if notion.unit == "probability" else (1.0, None)
    if "size" in notion.parameters:
        size = 2
    given = ", ".join(notion.parameters) or "nothing but the channel"
    return "\n".join(
        [
            f"### `{notion.key}`",
            "",
            f"{notion.title[0].upper()}{notion.title[1:]} ({notion.source}).",
            "",
            "```text",
            *_wrapped(notion.definition),
            "```",
            "",
            f"For {notion.quantifies_over}. Needs: {given}. At level {example:g}: "
            f"*{notion.in_words(example, size=size)}*",
            "",
        ]
    )


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 96)


def page(text: str) -> str:
    """A page with its generated part made anew."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{generated()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
