"""A line of plain commands, as a POSIX shell reads it, so that a hook can say what it runs.

Plain is what names a program and its words and does nothing else: no expansion, no pipe, nothing in the background, and
no redirection but of a here-document that a shell takes as it stands (`<<'EOF'`). What is not surely plain is not.
Standard library only, and no imports: a person waits.
"""

_ENDS = "\n;"
_MEANS_MORE = frozenset("$`&|<>()[]{}*?!#~^\r\0")  # outside quotes
_HERE = "<<'"
_ESCAPED = '"\\$`\n'  # what a backslash speaks for between double quotes


class NotPlain(Exception):
    """The line does more than run programs with words."""


def read_commands(line: str) -> list[list[str]]:
    """List the words of each command, one after another as `;`, `&&` and line ends part them; raises NotPlain.

    A here-document is no word of its command.
    """
    commands: list[list[str]] = [[]]
    at, is_open = 0, False  # behind `&&`, where one more has to come
    here = ""  # what ends the here-document that follows this line
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
    """Read a quoted delimiter up to its closing quote, and tell where what follows it starts."""
    end = line.find("'", at)
    delimiter = line[at:end] if end >= 0 else ""
    is_word, follows = delimiter.isascii() and delimiter.isalnum(), line[end + 1 : end + 2]
    if not is_word or (follows and follows not in " \t\n;&"):
        raise NotPlain
    return delimiter, end + 1


def _behind(line: str, at: int, delimiter: str) -> int:
    """Find the end of the line that ends a here-document; `!` is as between double quotes."""
    while at <= len(line):
        end = line.find("\n", at)
        text = line[at : end if end >= 0 else len(line)]
        if text == delimiter:
            return at + len(text)
        if end < 0 or "\0" in text or _recalls(text):
            raise NotPlain
        at = end + 1
    raise NotPlain


def _recalls(text: str) -> bool:
    """Tell whether a `!` may speak of the history of a shell somebody types into; none does before a space."""
    return any(char == "!" and text[at + 1 : at + 2] not in ("", " ") for at, char in enumerate(text))


def _word(line: str, at: int) -> tuple[str, int]:
    """Read a word that starts here, and tell where it ends."""
    said = ""
    while at < len(line) and line[at] not in " \t" + _ENDS and not line.startswith("&&", at):
        piece, at = _piece(line, at)
        said += piece
    return said, at


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
    if char in _MEANS_MORE:
        raise NotPlain
    return char, after


def _between_double_quotes(line: str, at: int) -> tuple[str, int]:
    """Read up to the closing quote. `!` speaks of the history of a shell somebody types into, unless space follows."""
    said = ""
    while at < len(line) and line[at] != '"':
        char, following = line[at], line[at + 1 : at + 2]
        if char in "$`" or (char == "!" and following not in ("", " ", '"', "\n")):
            raise NotPlain
        if char == "\\" and following and following in _ESCAPED:
            said += "" if following == "\n" else following
            at += 2
        else:
            said += char
            at += 1
    if at >= len(line):
        raise NotPlain
    return said, at + 1
