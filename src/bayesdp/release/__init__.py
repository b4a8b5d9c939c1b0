"""Study files, their price, and the release itself."""

from __future__ import annotations

from bayesdp.release.study import Study

__all__ = ["Study"]
