"""Texts about a file: they name it, by enough of its path to tell it from others; pure.

Imported inside agents' hooks: standard library only.
"""

from eventlog.projections.search.words import JOINERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_LONGEST = 12  # parts of a path that are looked for
_ABBREVIATION = 3  # characters of `e.g`
# names of so many files that a name alone tells none of them
_OF_MANY = """
__init__.py __main__.py conftest.py main.py mod.rs lib.rs main.rs main.go doc.go index.ts index.tsx index.js index.html
readme.md changelog.md license makefile dockerfile package.json pyproject.toml cargo.toml go.mod pom.xml build.gradle
.gitignore .env
"""
_EVERYWHERE = frozenset(_OF_MANY.split())


def names_of(path: str) -> list[str]:
    """List what a file below the project's root may be called, the longest first: `a/b/c.py`, `b/c.py`, `c.py`.

    Of names that no word is, as those with spaces, there are none, nor of those that any word may be.
    """
    parts = path.casefold().split("/")[-_LONGEST:]
    names = ["/".join(parts[at:]).strip(JOINERS) for at in range(len(parts))]
    telling = names[:-1] if len(parts) > 1 and parts[-1] in _EVERYWHERE else names
    return [name for name in telling if name.isascii() and _is_word(name) and ("/" in name or "." in name)]


def _is_word(name: str) -> bool:
    return all(char.isalnum() or char in JOINERS for char in name)


def speaks_of(words: "Collection[str]", path: str) -> bool:
    """Tell whether a text, by its words, names this file, and not another one of that name elsewhere."""
    names = names_of(path)
    if not names:
        return False
    whole, last = path.casefold().strip(JOINERS), path.casefold().rpartition("/")[2].strip(JOINERS)
    longer = [word for word in words if word.endswith(f"/{last}")]
    if any(word in names or word.endswith(f"/{whole}") for word in longer):
        return True
    return not longer and last in names and last in words


def files_in(words: "Iterable[str]") -> "list[str]":
    """List the files among the words of a text, by their last names; not those that many have."""
    names = (word.rpartition("/")[2] for word in words)
    return [name for name in names if _is_file(name) and name not in _EVERYWHERE]


def _is_file(name: str) -> bool:
    """Tell whether a word is a name with an ending: no number with a point, no `e.g`."""
    first, _, ending = name.rpartition(".")
    return len(name) > _ABBREVIATION and first != "" and ending.isalnum() and not ending.isdigit()
