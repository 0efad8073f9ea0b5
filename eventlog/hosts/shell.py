"""Effects of a shell command, as far as its words tell: files written, commits, programs run; pure.

Not a parser of the shell: quotes, redirections and the ends of commands are known, all else is words.
"""

import re
from collections.abc import Iterator

_LONGEST = 4000  # characters looked at
_HEREDOC_BODY = re.compile(r"(<<-?\s*(['\"]?)(\w+)\2[^\n]*)\n.*?(?:^\s*\3$|\Z)", re.DOTALL | re.MULTILINE)
_MEANT = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.
    |(?<![-=<])(?P<source>\d|&)?>{1,2}\|?[^\S\n]*(?P<target>'[^'\n]+'|"[^"\n]+"|[^\s;&|<>()'"]+)
    |(?P<end>&&|\|\||;|\n|&(?![>\d]))""",
    re.DOTALL | re.VERBOSE,
)
_TEE = re.compile(r"(?:^|\|)\s*tee\s+(?:-a\s+)?([^\s;&|<>()'\"-][^\s;&|<>()'\"]*)")
_NOWHERE = ("/dev/", "/proc/", "/tmp/", "$")  # noqa: S108 - compared with, never opened
_LOOKING = re.compile(
    r"(?:\w+=\S*\s+)*(?:\S*/)?(?:cd|ls|cat|pwd|head|tail|grep|rg|find|echo|printf|sed -n|which|wc|tree|tee|true|sleep"
    r"|export|set|eventlog|git (?:-C \S+ )?(?:status|log|diff|show|add|commit))(?![\w-])"
)
_COMMIT = re.compile(r"""\bgit\b[^\n|;&]*?\bcommit\b[^\n]*?\s(?:-\w*m|--message[= ])\s*(?:"([^"\n]+)|'([^'\n]+))""")
_HEREDOC = re.compile(r"\bgit\b[^\n]*\bcommit\b.*?<<-?\s*['\"]?(\w+)['\"]?\n\s*([^\n]+)", re.DOTALL)


def files_written(command: str) -> Iterator[str]:
    """The files a command's output goes to, in order; not those that nobody keeps."""
    text = _HEREDOC_BODY.sub(r"\1", command[:_LONGEST])
    redirected = [(found["source"], found["target"]) for found in _MEANT.finditer(text) if found["target"]]
    targets = [target.strip("'\"") for source, target in redirected if source != "2"]
    yield from (target for target in (*targets, *_TEE.findall(text)) if not target.startswith(_NOWHERE))


def programs_run(command: str) -> Iterator[str]:
    """The single commands of a line, each on one line; without those that only look around, write, or commit."""
    text = _HEREDOC_BODY.sub(r"\1", command[:_LONGEST])
    start = 0
    ends = [found for found in _MEANT.finditer(text) if found["end"]]
    for stop, following in [*((found.start(), found.end()) for found in ends), (len(text), len(text))]:
        piece = " ".join(text[start:stop].split())
        start = following
        if piece and not _LOOKING.match(piece):
            yield piece


def commit_titles(command: str) -> list[str]:
    """The first lines of the messages a command commits with, where it says them."""
    text = command[:_LONGEST]
    quoted = [double or single for double, single in _COMMIT.findall(text) if not (double or single).startswith("$(")]
    return quoted or [title for _, title in _HEREDOC.findall(text)]
