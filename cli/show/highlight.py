"""The hits of a search as they are printed: on a terminal with the words that were asked for in bold."""

import re
from collections.abc import Iterable, Iterator

from eventlog.app.search.search import SearchHit, last_word
from eventlog.cli.output import beside, clean, show_lines, styled, table
from eventlog.cli.show.display import Shown
from eventlog.format.text import cut, project_name
from eventlog.projections.search.words import tokens

_LONGEST = 300  # characters of a text
_WORD = re.compile(r"[\w./:@+#-]+")


def show_hits(hits: Iterable[SearchHit], query: str, shown: Shown) -> None:
    """Print hits: with what makes them what they are above the text, or one a line in a pipe."""
    if not shown.is_for_people:
        table(map(_row, hits), id=0, time=0, type=0, project=0, score=0, text=0)
        return
    show_lines(_lines(hits, query, shown))


def _lines(hits: Iterable[SearchHit], query: str, shown: Shown) -> Iterator[str]:
    asked, beginning = frozenset(tokens(query)), last_word(query)
    for hit in hits:
        about = project_name(hit.project) if hit.project else "about you"
        where = " · ".join([shown.moment(hit.ts), clean(hit.kind), clean(about)])
        yield f"{styled(shown.id(hit.id), fg='cyan')}  {styled(where, dim=True)}"
        yield from (highlighted(line, asked, beginning) for line in beside("  ", clean(cut(hit.text, _LONGEST))))


def highlighted(text: str, asked: frozenset[str], beginning: str = "") -> str:
    """Make the words bold that are asked for, in whatever form, or begin like that."""

    def word(found: re.Match[str]) -> str:
        said = found[0]
        parts = tokens(said)
        if said.isascii():
            hit = not asked.isdisjoint(parts) or (beginning and said.casefold().startswith(beginning))
            return styled(said, bold=True) if hit else said
        return _han(said, [part for part in parts if part in asked])

    return _WORD.sub(word, text)


def _han(said: str, parts: Iterable[str]) -> str:
    """Make these parts of a run bold; neighbours overlap."""
    bold = {at + offset for part in parts for at in _places(said, part) for offset in range(len(part))}
    runs = re.finditer("1+|0+", "".join("01"[at in bold] for at in range(len(said))))
    return "".join(
        styled(said[run.start() : run.end()], bold=True) if run[0][0] == "1" else said[run.start() : run.end()]
        for run in runs
    )


def _places(said: str, part: str) -> list[int]:
    return [found.start() for found in re.finditer(f"(?={re.escape(part)})", said.casefold())]


def _row(hit: SearchHit) -> tuple[str, ...]:
    return hit.id, hit.ts.replace("T", " "), hit.type, hit.project or "", f"{hit.score:.2f}", hit.text
