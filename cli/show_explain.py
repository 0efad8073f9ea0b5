"""Reports of why a prompt is told something, or nothing."""

from collections.abc import Iterator

from eventlog.app.search.explain import Candidate, Explanation
from eventlog.cli.output import beside, clean, count, emit_pretty, marked, show_lines, styled
from eventlog.cli.shown import Shown
from eventlog.text import cut, project_name

_CHARS = 300
_SILENCES = {
    "off": "silent: recall is off (recall: {prompt: false})",
    "about nothing": "silent: the prompt has only words of every day's work",
    "nothing known": "silent: nothing known here or about you shares a word with the prompt",
    "below the gate": "silent: what was found shares too little with the prompt",
    "nothing new": "silent: the session knows it already",
    "elsewhere": "silent: it is known of another project",
    "withdrawn": "silent: it was withdrawn",
}


def show_explanation(found: Explanation, shown: Shown, *, as_json: bool) -> None:
    """Print whether something is told, the words that count and the weight that is needed, then every candidate."""
    if as_json:
        emit_pretty({**found._asdict(), "candidates": [one._asdict() for one in found.candidates]})
        return
    show_lines(_lines(found, shown))


def _lines(found: Explanation, shown: Shown) -> Iterator[str]:
    told = f"speaks: {count(len(found.told), 'line')} of at most {found.lines}"
    yield styled(_SILENCES[found.silence] if found.silence else told, bold=True)
    if found.words:
        yield from beside("about  ", clean(", ".join(found.words)))
        yield f"need   {found.need:.1f}"
    for one in found.candidates:
        yield from _line(one, shown)


def _line(one: Candidate, shown: Shown) -> Iterator[str]:
    place = f" ({project_name(one.project)})" if one.verdict == "elsewhere" and one.project else ""
    mark = marked("✓" if one.verdict == "told" else "·")
    yield from beside(f"{mark} {one.score:4.1f}  {shown.id(one.id)}  {one.verdict}{place}  ", cut(one.text, _CHARS))
