"""What of a host's payload may reach the disk: bounded, without secrets, without the user's address."""

from eventlog import wire
from eventlog.agents.moment import Payload

_LONGEST_TEXT = 2000  # characters
_LONGEST_LIST = 50
_DEEPEST = 8
_NEVER_KEPT = frozenset(("user_email",))
_ENVELOPE = frozenset(("session_id", "sessionId", "conversation_id", "hook_event_name", "hookEventName"))

# literal beginnings are looked for first: a regular expression is only imported where one of them occurs
_SUSPECT = (
    "AKIA", "ASIA", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox", "sk-", "sk_live_", "rk_live_",
    "AIza", "npm_", "pypi-", "eyJ", "-----BEGIN", "://",
)  # fmt: skip
_PATTERNS = (
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bgh[posu]_[A-Za-z0-9]{20,}\b|\bgithub_pat_\w{20,}\b|\bglpat-[\w-]{20,}",
    r"\bxox[abposr]-[\w-]{10,}",
    r"\b(?:sk|rk)[-_](?:live_|proj-|ant-|or-)?[A-Za-z0-9_-]{20,}",
    r"\bAIza[\w-]{35}\b|\bnpm_[A-Za-z0-9]{36}\b|\bpypi-[\w-]{40,}",
    r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
)


def scrub(payload: Payload) -> dict[str, object]:
    """The payload as it is kept; what the event says elsewhere is left out."""
    return {
        name: _kept(value, 1) for name, value in payload.items() if name not in _NEVER_KEPT and name not in _ENVELOPE
    }


def outline(payload: Payload) -> dict[str, object]:
    """What is kept of a payload that is too long for a line even so: the texts and numbers it begins with."""
    first = list(scrub(payload).items())[:_LONGEST_LIST]
    return {name: "…" if isinstance(value, (list, dict)) else value for name, value in first}


def without_secrets(text: str) -> str:
    """The text with anything that looks like a credential replaced."""
    if not any(start in text for start in _SUSPECT):
        return text
    import re

    for pattern in _PATTERNS:
        text = re.sub(pattern, "[REDACTED]", text, flags=re.DOTALL)
    return text


def bounded(text: str) -> str:
    """At most so much of a text, saying how much is missing."""
    if len(text) <= _LONGEST_TEXT:
        return text
    return f"{text[:_LONGEST_TEXT]}…[+{len(text) - _LONGEST_TEXT} chars]"


def _kept(value: object, depth: int) -> object:
    if isinstance(value, str):
        return bounded(without_secrets(value))
    if isinstance(value, list):
        rest = [f"…[+{len(value) - _LONGEST_LIST} items]"] if len(value) > _LONGEST_LIST else []
        return [_kept(one, depth + 1) for one in value[:_LONGEST_LIST]] + rest if depth < _DEEPEST else "…"
    if isinstance(value, dict):
        if depth >= _DEEPEST:
            return "…"
        kept = ((name, one) for name, one in value.items() if name not in _NEVER_KEPT)
        return {bounded(without_secrets(name)): _kept(one, depth + 1) for name, one in kept}
    return _number_as_text(value) if wire.refusal(value) else value


def _number_as_text(value: object) -> str:
    """Keep a number no log takes as it was written; of one too long to be printed, only that it was there."""
    try:
        return bounded(str(value))
    except ValueError:  # Python prints integers of up to 4,300 digits
        return "…"
