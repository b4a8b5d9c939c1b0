"""What an audit says, for people: the claim, the strongest attack, and the gap."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bayesdp.audit import StudyAudit
from bayesdp.numbers import up_words
from bayesdp.statements.base import exact_text

if TYPE_CHECKING:
    from rich.console import Console


def show_audit(console: Console, audit: StudyAudit) -> None:
    """Print an audit of a study."""
    for line in audit_lines(audit):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def audit_lines(audit: StudyAudit) -> list[str]:
    """An audit as lines of text. Levels that attacks show are rounded down."""
    bound = audit.bound
    delta = f" at delta {exact_text(audit.delta)}" if audit.delta else ""
    hits, others = bound.hits
    epsilon_words, confidence = down_words(bound.epsilon), exact_text(bound.confidence)
    lines = [
        f"claimed ({audit.notion.upper()}): level {up_words(audit.claimed)}{delta}",
        f"strongest attack, of {audit.tried} tried: {audit.attack}",
        f"  it looks whether {bound.event}: {hits} of {bound.samples} releases under the likelier "
        f"hypothesis, {others} under the other",
        f"  so the level is at least {epsilon_words}{delta}, with confidence {confidence}",
    ]
    if audit.exceeded:
        return [*lines, "The claim is EXCEEDED: more leaks than it says. Don't release."]
    return [
        *lines,
        f"gap: {up_words(audit.gap)}. No attack exceeds the claim, which proves nothing: verify "
        "the certificate for that.",
    ]


def down_words(value: float) -> str:
    """Six digits that never say more than the value, which is not below 0."""
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(value)) - 5)
    return f"{math.floor(value / step) * step:.6g}"
