"""The address of a project's repository, so that one repository is one project wherever it lies.

Read from git's own configuration, no git process and no code of the repository. One address has many spellings: host
and path count, in lower case, without user, port and `.git`.
"""

import re

from eventlog.projects.root import git_config

_SECTION = re.compile(r'\[\s*remote\s+"(?P<name>(?:[^"\\\n]|\\.)*)"\s*\]', re.IGNORECASE)
_URL = re.compile(r"\s*url\s*=\s*(?P<value>.*)", re.IGNORECASE)
_SCHEMES = r"(?:ssh|git|https?|git\+ssh|ssh\+git|git\+https?)"
_WITH_SCHEME = re.compile(rf"{_SCHEMES}://(?P<host>[^/]*)/(?P<path>.*)", re.IGNORECASE)
_AS_SSH = re.compile(r"(?P<host>[^/:]+):(?P<path>.*)")
_HOST = re.compile(r"[a-z0-9.-]+")
_LONGEST = 300
_DRIVE = 1  # characters before the colon of `C:\repositories`


def remote_of(root: str) -> str:
    """Read the address of the repository with this root, that of `origin` where it has several; "" for none."""
    urls: dict[str, str] = {}
    name = None
    for line in git_config(root).splitlines():
        if line.lstrip().startswith("["):
            section = _SECTION.match(line.strip())
            name = section["name"] if section else None
        elif name is not None and (url := _URL.fullmatch(line)):
            urls[name] = normalised(_plain(url["value"]))
    return urls.get("origin") or next(filter(None, urls.values()), "")


def normalised(url: str) -> str:
    """Spell an address in the one way, `github.com/ada/shop`; "" where it is none that two machines could share."""
    found = _WITH_SCHEME.fullmatch(url) or (None if "://" in url else _AS_SSH.fullmatch(url))
    if not found or len(url) > _LONGEST or (len(found["host"]) == _DRIVE and "://" not in url):
        return ""
    host = found["host"].rpartition("@")[2].lower().partition(":")[0].rstrip(".")
    path = "/".join(part for part in found["path"].lower().split("/") if part)
    path = path.removesuffix(".git").rstrip("/")
    is_text = path.isprintable() and not any(char.isspace() for char in path)
    return f"{host}/{path}" if _HOST.fullmatch(host) and path and is_text and ":" not in path else ""


def _plain(value: str) -> str:
    """Read a value as git does: without the comment behind it, and its quotes."""
    text, quoted, escaped = "", False, False
    for char in value.strip():
        if escaped:
            text, escaped = text + char, False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            text += char
    return text.strip()
