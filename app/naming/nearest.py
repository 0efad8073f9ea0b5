"""The nearest known words to one that is unknown."""

from collections.abc import Iterable

_SHOWN = 3
_LISTED = 8  # of all there are, where none is near


def nearest(said: str, known: Iterable[str]) -> list[str]:
    """Find the words most like the one said, in any case, the likest first."""
    from difflib import get_close_matches

    words = {word.casefold(): word for word in known}
    folded = said.casefold()
    near = get_close_matches(folded, words, n=_SHOWN, cutoff=0.6)
    near += [word for word in words if folded and (folded in word or (word and word in folded)) and word not in near]
    return [words[word] for word in near[:_SHOWN]]


def did_you_mean(said: str, known: Iterable[str]) -> str:
    """Ask for the nearest words, else list what there is; "" where there is nothing."""
    known = list(dict.fromkeys(known))
    if near := nearest(said, known):
        return f"did you mean {' or '.join(near)}?"
    more = f", … ({len(known)} in all)" if len(known) > _LISTED else ""
    return f"known: {', '.join(known[:_LISTED])}{more}" if known else ""
