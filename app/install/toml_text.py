"""The text of a TOML file as the document it is; pure."""

import tomllib
from typing import Any

from eventlog.errors import BadRequest


def parsed(text: str) -> dict[str, Any]:
    """Read the document; raises BadRequest."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"not TOML: {error}", hint="correct the file by hand, then do it again") from error


def says(text: str, document: dict[str, Any]) -> bool:
    """Tell whether a text is exactly that document."""
    try:
        return tomllib.loads(text) == document
    except tomllib.TOMLDecodeError:
        return False
