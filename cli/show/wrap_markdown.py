"""Markdown on a terminal: broken at words, below where its text begins; code stays whole, to be copied."""

import re
from collections.abc import Iterable, Iterator

from eventlog.cli.output import beside, styled
from eventlog.format.text import harmless

_BULLET = re.compile(r"\s*(?:(?:[-*+]|\d+\.) +)?(?:\[[ x]\] )?")
_FENCE, _CODE = ("```", "~~~"), "    "


def prose_lines(lines: Iterable[str]) -> Iterator[str]:
    """Break lines of Markdown to the width of the terminal; nothing of them acts on it."""
    in_fence = False
    for line in map(harmless, lines):
        is_fence = line.lstrip().startswith(_FENCE)
        if in_fence or is_fence or line.startswith(_CODE):
            yield line
        elif line.startswith("#"):
            yield from (styled(one, bold=True) for one in beside("", line))
        else:
            bullet = _BULLET.match(line)
            assert bullet
            yield from beside(bullet.group(), line[bullet.end() :])
        in_fence ^= is_fence
