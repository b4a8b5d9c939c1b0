"""Which records are tied together, directly or through others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

Place = TypeVar("Place", bound=Hashable)


class Components(Generic[Place]):
    """The connected components of places that ties join, one tie after the other."""

    def __init__(self, places: Iterable[Place], ties: Iterable[Sequence[Place]] = ()) -> None:
        self._above = {place: place for place in places}
        for tie in ties:
            self.join(tie)

    def top(self, place: Place) -> Place:
        """The place that stands for the component of this one."""
        tops = self._above
        while (above := tops[place]) != place:
            tops[place] = place = tops[above]
        return place

    def join(self, tie: Sequence[Place]) -> bool:
        """Join the places of a tie; whether no two of them were joined before."""
        first, apart = self.top(tie[0]), True
        for place in tie[1:]:
            top = self.top(place)
            apart = apart and top != first
            self._above[top] = first
        return apart

    def groups(self) -> list[list[Place]]:
        """The places of each component, both in the order in which places were given."""
        groups: dict[Place, list[Place]] = {}
        for place in self._above:
            groups.setdefault(self.top(place), []).append(place)
        return list(groups.values())
