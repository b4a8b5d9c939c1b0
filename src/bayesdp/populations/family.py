"""A family: any of several populations may be the true one, and the level holds for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from bayesdp.errors import InputError
from bayesdp.populations.base import Population
from bayesdp.populations.registry import parse_below


class Family(Population):
    """Several populations of one structure; every level is the largest over the `members`.

    `members` are populations or their specs, without `covers` of their own: the family's hold for
    all. Their structure (clusters, series, ...) must be the same, because the same table is
    compared with each of them.
    """

    model: Literal["family"] = "family"
    members: tuple[Any, ...] = Field(min_length=1)

    positional: ClassVar[tuple[str, ...]] = ("members",)

    @field_validator("members", mode="before")
    @classmethod
    def _parsed(cls, values: object) -> object:
        if not isinstance(values, list | tuple):
            raise InputError("population.members", values, expected="a list of populations")
        return tuple(_member(member, position) for position, member in enumerate(values))

    @model_validator(mode="after")
    def _same_structure(self) -> Family:
        kinds = {member.structure for member in self.members} - {"none"}
        if len(kinds) > 1:
            raise InputError(
                "population.members",
                sorted(kinds),
                expected="members of one structure: all clusters, or all series",
            )
        for position, member in enumerate(self.members):
            if member.covers:
                raise InputError(
                    f"population.members[{position}].covers",
                    list(member.covers),
                    expected="nothing here",
                    remedy="Name the covered columns on the family.",
                )
        return self

    @property
    def structure(self) -> str:  # type: ignore[override]  # the members decide
        """The members' structure."""
        kinds = {member.structure for member in self.members} - {"none"}
        return str(kinds.pop()) if kinds else "none"

    @property
    def group_size(self) -> int:
        """The largest group size of a member."""
        return int(max(member.group_size for member in self.members))

    @property
    def table_size(self) -> int:
        """The most records that any of its members has room for."""
        return int(max(member.table_size for member in self.members))

    def describe(self) -> str:
        """One sentence in plain English."""
        each = Counter(member.describe() for member in self.members)
        parts = "; or ".join(
            words if number == 1 else f"{words} ({number} such populations)"
            for words, number in each.items()
        )
        return f"one of these holds, whichever it is: {parts}"

    def spec(self) -> dict[str, Any]:
        """The family as plain data."""
        plain = super().spec()
        return plain | {"members": [member.spec() for member in self.members]}


def _member(given: Any, position: int) -> Population:
    """A member from a population or a spec. Errors name the member's position."""
    place = f"population.members[{position}]"
    spec = given if isinstance(given, Mapping) else {}
    model = given.model if isinstance(given, Population) else spec.get("model")
    if model == "family":
        raise InputError(
            f"{place}.model",
            model,
            expected="a population that is not itself a family",
            remedy="Put its members into this list.",
        )
    if isinstance(given, Population):
        return given
    return parse_below(given, place)
