"""The format of the log: events and their line of JSON, ids, times, texts, marks, withdrawals and errors.

Here are the constants that code without the types needs, too: the layers a save comes from, and the mark of requests.

Imported by: everybody.
"""

AGENT, PRE_COMPACTION, SESSION_END, STOP_FALLBACK = 1, 2, 3, 4

FIRST_HAN = "\u2e80"  # characters of Chinese, and its punctuation, begin there
MARK = "[eventlog]"  # what a request of ours starts with: a host may hand it back as the user's words


def effective_scope(project: str | None, scope: object, memory_type: object) -> str:
    """Return the scope in force of a fact: `user` or `project`."""
    if not project:
        return "user"
    return "user" if scope == "user" or (not scope and memory_type != "W") else "project"
