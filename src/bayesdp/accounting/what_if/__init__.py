"""What several releases cost together: what is claimed, what is proved, and what is true.

`releases` reads the document, with its `blocks` and `kinds` of mechanisms; `levels` and `rules`
prove levels, `comparison` puts them beside the naive claim and the exact leakage, and `answer` is
what is shown.
"""

from __future__ import annotations

from bayesdp.accounting.what_if.answer import WhatIf
from bayesdp.accounting.what_if.comparison import what_if
from bayesdp.accounting.what_if.releases import StatedRelease, read_releases

__all__ = ["StatedRelease", "WhatIf", "read_releases", "what_if"]
