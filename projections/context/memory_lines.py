"""The lines of a rendered MEMORY.md that stand: the next replay takes the others out of the file; pure.

Imported inside agents' hooks: standard library only.
"""

from eventlog.projections.views.markdown import as_said, is_untouched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.projections.context.heard import CurrentSource

_SAID = len("- [2026-02-20] ")
_DAY = slice(3, _SAID - 2)


def standing_lines(text: str, known: "CurrentSource", *, about_user: bool) -> str:
    """Drop the bullets that nobody says any more: withdrawn, replaced, or of a session that was of another project."""
    lines = text.split("\n")
    said = {line: as_said(line[_SAID:]) for line in lines if _is_bullet(line)}
    if not said:
        return text
    days = {words: line[_DAY] for line, words in said.items()}
    stand = known.stand("" if about_user else known.subject, days)
    is_ours = is_untouched(text.encode("utf-8", "replace"))

    def is_told(line: str) -> bool:
        words = said.get(line)
        if words is None:
            return True
        return not known.rejections.rejects(words) and (stand is None or not is_ours or words in stand)

    return "\n".join(filter(is_told, lines))


def _is_bullet(line: str) -> bool:
    return line.startswith("- [") and line[_SAID - 2 : _SAID] == "] " and len(line) > _SAID
