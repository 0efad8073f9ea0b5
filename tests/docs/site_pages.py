"""A hook of mkdocs: pages beside `docs/` (README.md, SECURITY.md, …) are pages of the site, so that links to them lead there."""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]  # mkdocs loads this file alone
BESIDE = "repository"  # the folder of the site that has them
_LINK = re.compile(r"\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that others link to above `docs/`, and those that these link to."""
    from mkdocs.structure.files import File

    wanted = [path for page in files.documentation_pages() for path in _above(page.src_uri, page.content_string)]
    added: set[str] = set()
    while wanted:
        path = wanted.pop()
        if path not in added and (ROOT / path).is_file():
            added.add(path)
            text = (ROOT / path).read_text(encoding="utf-8")
            files.append(File.generated(config, f"{BESIDE}/{path}", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Lead the links of a page to where the site has what they mean."""
    del config
    known = {file.src_uri for file in files}
    return with_links(markdown, page.file.src_uri, known)


def with_links(markdown: str, uri: str, known: set[str]) -> str:
    """Rewrite the links of a page of the site; what the site does not have becomes plain text."""
    here = posixpath.dirname(uri)
    is_beside = here.split("/")[0] == BESIDE
    place = here.removeprefix(BESIDE).strip("/") if is_beside else f"docs/{here}".rstrip("/")

    def led(link: re.Match[str]) -> str:
        meant = posixpath.normpath(posixpath.join(place, link["path"]))
        target = meant.removeprefix("docs/") if meant.startswith("docs/") else f"{BESIDE}/{meant}"
        anchor = link["anchor"] or ""
        return f"]({posixpath.relpath(target, here or '.')}{anchor})" if target in known else "]"

    return _LINK.sub(led, markdown)


def _above(uri: str, text: str) -> list[str]:
    """List the files above `docs/` that a page of it links to, from the root of the tree."""
    place = posixpath.join("docs", posixpath.dirname(uri))
    found = (posixpath.normpath(posixpath.join(place, link["path"])) for link in _LINK.finditer(text))
    return [path for path in found if not path.startswith(("docs/", ".."))]
