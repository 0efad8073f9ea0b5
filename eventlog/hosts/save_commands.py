"""The commands an agent saves with: exactly this program, its saving verbs, into this store, and nothing else.

A shell line is read only if it is plain: it names programs and their words, without expansions, pipes, background
processes, or redirections except a here-document that a shell takes literally (`<<'EOF'`). When in doubt, it is not.
Standard library only, and no imports: a person waits.
"""

SAVES = ("summary", "fact")
VERBS = (*SAVES, "plan")  # a plan changes knowledge bases only, and no line of a person
TOOLS = ("remember", "recall", "why")  # of our MCP server: those that destroy nothing
_STORE = "--store"

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_")
_ENDS = "\n;"
_SPECIAL = frozenset("$`&|<>()[]{}*?!#~^\r\0")  # outside quotes
_HERE = "<<'"
_ESCAPED = '"\\$`\n'  # the characters a backslash quotes between double quotes


def only_saves(line: str, program: str, store: str) -> bool:
    """Return whether a shell line runs nothing but saving commands; `program` as a shell reads it, `store` absolute."""
    try:
        commands, (prefix,) = read_commands(line), read_commands(program)
    except (NotPlain, ValueError):
        return False
    return bool(commands) and all(_saves(words, prefix, store) for words in commands)


def _saves(words: list[str], prefix: list[str], store: str) -> bool:
    """Return whether a command saves, into this store: an option may be shortened, and hold its value after `=`."""
    verb = len(prefix)
    if words[:verb] != prefix or words[verb : verb + 1] not in [[name] for name in VERBS]:
        return False
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        is_store = name.startswith("--s") and _STORE.startswith(name)
        if is_store and value != store and (equals or words[at + 1 : at + 2] != [store]):
            return False
    return True


def shell_word(text: str) -> str:
    """Quote a text as one word of a shell, as `shlex` does, which takes long to load."""
    return text if text and _PLAIN.issuperset(text) else "'" + text.replace("'", "'\"'\"'") + "'"


class NotPlain(Exception):
    """Raised for a line that does more than run programs with words."""


def read_commands(line: str) -> list[list[str]]:
    """List the words of each command of a line, separated by `;`, `&&` or line ends; raises NotPlain.

    A here-document is not among the words of its command.
    """
    commands: list[list[str]] = [[]]
    at, is_open = 0, False  # after `&&`, which needs another command
    here = ""  # the delimiter of the here-document that follows this line
    while at < len(line):
        char = line[at]
        if char in " \t":
            at += 1
        elif line.startswith("\\\n", at) and not here:
            at += 2
        elif line.startswith(_HERE, at) and commands[-1] and not here:
            here, at = _delimiter(line, at + len(_HERE))
        elif char in _ENDS or line.startswith("&&", at):
            if char != "\n" and not commands[-1]:
                raise NotPlain  # a shell refuses the whole line
            commands.append([])
            is_open = char == "&" or is_open
            at += 1 if char in _ENDS else 2
            if char == "\n" and here:
                here, at = "", _behind(line, at, here)
        else:
            begun = at
            word, at = _word(line, at)
            if here and "\n" in line[begun:at]:  # shells differ about where the here-document begins then
                raise NotPlain
            commands[-1].append(word)
            is_open = False
    if is_open or here:
        raise NotPlain
    return [words for words in commands if words]


def _delimiter(line: str, at: int) -> tuple[str, int]:
    """Read a quoted delimiter; return it and the position after its closing quote."""
    end = line.find("'", at)
    delimiter = line[at:end] if end >= 0 else ""
    is_word, follows = delimiter.isascii() and delimiter.isalnum(), line[end + 1 : end + 2]
    if not is_word or (follows and follows not in " \t\n;&"):
        raise NotPlain
    return delimiter, end + 1


def _behind(line: str, at: int, delimiter: str) -> int:
    """Find the end of the line that ends a here-document; `!` counts as between double quotes."""
    while True:
        end = line.find("\n", at)
        text = line[at : end if end >= 0 else len(line)]
        if text == delimiter:
            return at + len(text)
        # a `!` may recall the history of an interactive shell, but before a space
        recalls = any(char == "!" and text[place + 1 : place + 2] not in ("", " ") for place, char in enumerate(text))
        if end < 0 or "\0" in text or recalls:
            raise NotPlain
        at = end + 1


def _word(line: str, at: int) -> tuple[str, int]:
    """Read the word that starts here; return it and its end."""
    text = ""
    while at < len(line) and line[at] not in " \t" + _ENDS and not line.startswith("&&", at):
        piece, at = _piece(line, at)
        text += piece
    return text, at


def _piece(line: str, at: int) -> tuple[str, int]:
    char, after = line[at], at + 1
    if char == "'":
        end = line.find("'", after)
        if end < 0:
            raise NotPlain
        return line[after:end], end + 1
    if char == '"':
        return _between_double_quotes(line, after)
    if char == "\\":
        if after == len(line):
            raise NotPlain
        return ("" if line[after] == "\n" else line[after]), after + 1
    if char in _SPECIAL:
        raise NotPlain
    return char, after


def _between_double_quotes(line: str, at: int) -> tuple[str, int]:
    """Read up to the closing quote. `!` recalls the history of an interactive shell, unless a space follows."""
    text = ""
    while at < len(line) and line[at] != '"':
        char, following = line[at], line[at + 1 : at + 2]
        if char in "$`" or (char == "!" and following not in ("", " ", '"', "\n")):
            raise NotPlain
        if char == "\\" and following and following in _ESCAPED:
            text += "" if following == "\n" else following
            at += 2
        else:
            text += char
            at += 1
    if at >= len(line):
        raise NotPlain
    return text, at + 1
