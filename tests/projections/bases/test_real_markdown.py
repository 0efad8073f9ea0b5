"""Real files, changed section by section: our documents, and what all installed packages say of themselves.

Half of it is Markdown; the rest is reStructuredText, which is no less a Markdown file, with odder headings.
What a section is and what the file must be afterwards is worked out here with another parser (commonmark) and lines
alone. `make test` takes one section of each of the shorter files for each operation, `make fuzz` takes all of all.
"""

import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from email import message_from_string
from pathlib import Path
from typing import NamedTuple

import pytest

from eventlog.projections.bases import section_edits, sections
from tests.support.effort import FUZZ
from tests.support.sections import delete

commonmark = pytest.importorskip("commonmark")
MINIMUM = 60  # files; fewer prove little
LONG = 20_000 if not FUZZ else sys.maxsize  # characters: the other parser takes a second for a few long ones
ROOT = Path(__file__).parents[3]
OURS = ("*.md", "docs/*.md", "fixtures/README.md", "bench/memory/data/README.md")
THEIRS = ("*.dist-info/METADATA", "*.dist-info/**/*.md", "*/_vendor/*.dist-info/METADATA")
HEADING = re.compile(r"^(#|==|--)", re.MULTILINE)
OPERATIONS = ("update", "clear", "delete")


class Part(NamedTuple):
    """A section as the other parser sees it: heading, level, first line, first line of the body, ends of both."""

    heading: str
    level: int
    start: int
    body: int
    end: int
    last: int


def texts() -> dict[str, str]:
    """Every text with a heading, once, by the path of its file."""
    packages = Path(sysconfig.get_paths()["purelib"])
    ours = [path for place in OURS for path in sorted(ROOT.glob(place))]
    theirs = [path for place in THEIRS for path in sorted(packages.glob(place))]
    found = {described(path): str(path) for path in (*theirs, *ours)}
    return {name: text for text, name in found.items() if HEADING.search(text) and len(text) < LONG}


def described(path: Path) -> str:
    """A Markdown file, or the long description in a package's metadata."""
    text = path.read_text(errors="replace")
    about = message_from_string(text) if path.name == "METADATA" else None
    return str(about["Description"] or about.get_payload()) if about else text


def parts(text: str) -> list[Part]:
    nodes = [node for node, entering in commonmark.Parser().parse(text).walker() if entering and node.t == "heading"]
    tops = [node for node in nodes if node.parent.t == "document"]
    starts = [node.sourcepos[0][0] - 1 for node in tops]
    count = len(text.split("\n")) - text.endswith("\n")
    found = []
    for position, node in enumerate(tops):
        end = starts[position + 1] if position + 1 < len(tops) else count
        later = (at for at in range(position + 1, len(tops)) if tops[at].level <= node.level)
        last = next((starts[at] for at in later), count)
        found.append(Part(visible(node), node.level, starts[position], node.sourcepos[1][0], end, last))
    return found


def visible(node) -> str:
    words = {"softbreak": " ", "linebreak": " "}
    leaves = ((leaf, entering) for leaf, entering in node.walker() if entering)
    texts = (leaf.literal if leaf.t in ("text", "code") else words.get(leaf.t, "") for leaf, _ in leaves)
    return " ".join("".join(texts).split())


def expected(lines: list[str], part: Part, operation: str) -> list[str]:
    if operation == "delete":
        return lines[: part.start] + lines[part.last :]
    body = lines[part.body : part.end]
    full = [at for at, line in enumerate(body) if line.strip()]
    if operation == "clear" and not full:
        return lines
    lead, tail = (body[: full[0]], body[full[-1] + 1 :]) if full else (["\n"], [])
    gap = tail or ["\n"] * (part.end < len(lines))
    return [*lines[: part.body], *([*lead, "new\n"] if operation == "update" else []), *gap, *lines[part.end :]]


def cases(text: str) -> Iterator[tuple[Part, str]]:
    """Sections that heading and level tell apart, with what is done to them."""
    found = parts(text)
    unique = Counter((part.heading, part.level) for part in found)
    chosen = [part for part in found if unique[part.heading, part.level] == 1 and part.heading]
    if FUZZ:
        yield from ((part, operation) for part in chosen for operation in OPERATIONS)
    elif chosen:
        yield from ((chosen[len(chosen) * at // 3], operation) for at, operation in enumerate(OPERATIONS))


@pytest.mark.slow
def test_a_section_of_a_real_file_changes_and_nothing_else():
    files = texts()
    if len(files) < MINIMUM:
        pytest.skip(f"only {len(files)} descriptions are here")
    wrong, tried = [], 0
    for name, text in files.items():
        whole = text if text.endswith("\n") else f"{text}\n"
        for part, operation in cases(whole):
            tried += 1
            try:
                if operation == "delete":
                    changed = delete(whole.encode(), part.heading, part.level)
                else:
                    content = "new" if operation == "update" else ""
                    changed = section_edits.update(whole.encode(), part.heading, part.level, content)
            except sections.Unsafe as error:
                wrong.append((name, operation, part.heading, str(error)))
                continue
            if changed.decode() != "".join(expected(whole.splitlines(keepends=True), part, operation)):
                wrong.append((name, operation, part.heading, "other bytes"))

    assert (wrong, tried > MINIMUM) == ([], True)
