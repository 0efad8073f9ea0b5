"""Find the sections the log knows again on a page; pure."""

from collections.abc import Callable, Iterable, Mapping

from eventlog.projections.bases import sections
from eventlog.projections.bases.section_history import Spelling
from eventlog.projections.bases.sections import Page, Section, SectionId


def locate(
    page: Page, stood: Mapping[SectionId, str], spelled: Mapping[SectionId, Spelling]
) -> dict[SectionId, Section]:
    """Find the sections of a page that the log knows, no two of them the same.

    `stood` has the digest each was last known to have, "" where it was gone. What was there is where it stood, or says
    elsewhere what it said, or is the only section of its heading and level that is nothing else. What was gone is
    there again only where it had stood, and only if nothing that was there has moved to that place. On one page, a
    `stood` that follows from what was found finds the same texts again: edits are recorded once.
    """
    finder = _Finder(page, spelled)
    there = {key: digest for key, digest in stood.items() if digest}
    finder.claim(there, lambda key: finder.in_place(key, there[key]))
    finder.claim(there, lambda key: finder.saying(finder.alike(key), there[key]))
    finder.claim([key for key in stood if key not in there], lambda key: finder.in_place(key, ""))
    finder.claim(there, finder.only)
    return finder.found


class _Finder:
    """The sections of a page, and which of them are found."""

    def __init__(self, page: Page, spelled: Mapping[SectionId, Spelling]) -> None:
        self.found: dict[SectionId, Section] = {}
        self._page = page
        self._spelled = spelled
        self._claimed: set[Section] = set()
        self._at: dict[SectionId, list[Section]] = {}
        self._named: dict[tuple[str, int], list[Section]] = {}
        for section in page.sections:
            self._at.setdefault(section.key, []).append(section)
            self._named.setdefault((section.heading, section.level), []).append(section)

    def claim(self, keys: Iterable[SectionId], choose: Callable[[SectionId], Section | None]) -> None:
        """Give those that have no section yet the one that is chosen for them."""
        for key in keys:
            section = None if key in self.found else choose(key)
            if section:
                self.found[key] = section
                self._claimed.add(section)

    def alike(self, key: SectionId) -> list[Section]:
        """List the sections of that heading and level, wherever they stand, that are nothing else."""
        return self._free(self._named.get((key.heading, key.level)))

    def saying(self, among: Iterable[Section], digest: str) -> Section | None:
        """Pick the first that says that."""
        return next((section for section in among if sections.digest(self._page.text(section)) == digest), None)

    def in_place(self, key: SectionId, digest: str) -> Section | None:
        """Pick the section that stands there; of several, the one that says what it said."""
        left = self._free(self._at.get(key))
        return (self.saying(left, digest) if len(left) > 1 else None) or next(iter(left), None)

    def only(self, key: SectionId) -> Section | None:
        """Pick the only one left; the first, where the log did not tell where the section stands."""
        left = self.alike(key)
        return left[0] if len(left) == 1 or (left and self._spelled[key].under is None) else None

    def _free(self, found: Iterable[Section] | None) -> list[Section]:
        return [section for section in found or () if section not in self._claimed]
