"""The commands an agent saves with, told from all others: exactly this program, its saving verbs, into this store."""

from eventlog.hosts.plain_commands import NotPlain, read_commands

VERBS = ("summary", "fact")
TOOLS = ("remember", "recall", "why")  # of our MCP server: those that destroy nothing
_STORE = "--store"


def only_saves(line: str, program: str, store: str) -> bool:
    """Tell whether a shell line runs nothing but saving commands; `program` as a shell reads it, `store` absolute."""
    try:
        commands, (ours,) = read_commands(line), read_commands(program)
    except (NotPlain, ValueError):
        return False
    return bool(commands) and all(_saves(words, ours, store) for words in commands)


def _saves(words: list[str], ours: list[str], store: str) -> bool:
    verb = len(ours)
    return words[:verb] == ours and words[verb : verb + 1] in [[name] for name in VERBS] and _stays(words, store)


def _stays(words: list[str], store: str) -> bool:
    """Tell whether no word leads to another store; an option may be shortened, and hold its value after `=`."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        is_store = name.startswith("--s") and _STORE.startswith(name)
        if is_store and value != store and (equals or words[at + 1 : at + 2] != [store]):
            return False
    return True
