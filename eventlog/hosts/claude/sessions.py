"""Claude Code's store of sessions: `projects/<slug of the directory>/<session>.jsonl`.

Imported inside agents' hooks, where a payload names no conversation.
"""

import os

from eventlog.hosts.newest import newest_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def newest_transcript(where: str, environ: "Mapping[str, str]") -> str:
    """Find the transcript written last of sessions in a directory; "" where there is none."""
    home = environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    return newest_file(f"{home}/projects/{slug(where)}")


def slug(path: str) -> str:
    """Spell a path as Claude Code names its directory of transcripts: everything but letters and digits is `-`."""
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in path)
