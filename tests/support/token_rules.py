"""Make `eventlog/secrets/token_rules.py` of the rules of gitleaks: `make secrets-rules`.

Hooks load no regular expressions. A rule becomes what a token begins with, the characters that may follow, at least and
at most so many of them, and how random they must look. Rules that hand-written ones cover are left out; so are those by
the name of what is assigned, which `eventlog/secrets/find.py` knows in general.

The regular expressions themselves go to `fixtures/secrets/`, where tests make samples of them; those of values by the
name of what is assigned, too.
"""

import importlib
import json
import random
import re
import string
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple
from urllib.request import urlopen

from eventlog.secrets import patterns, plain
from tests.support.tree import ROOT

SOURCE = "https://raw.githubusercontent.com/gitleaks/gitleaks/master/config/gitleaks.toml"
RULES = ROOT / "eventlog" / "secrets" / "token_rules.py"
PATTERNS = ROOT / "eventlog" / "secrets" / "patterns.py"
PLAIN = ROOT / "eventlog" / "secrets" / "plain.py"
FIXTURE = ROOT / "fixtures" / "secrets" / "gitleaks.json"
ASSIGNED = ROOT / "fixtures" / "secrets" / "gitleaks-assigned.json"
_QUOTED = "'" + '"'
_ENDS = (
    rf"(?:[\x60{_QUOTED}\s;]|\\[nr]|$|\b)",
    rf"(?:[\x60{_QUOTED}\s;]|\\[nr]|$)",
    r"(?:[^\w-]|\z)",
    r"(?:[^a-zA-Z0-9+/]|\z)",
)
_OTHER = ("curl-", "kubernetes-", "private-key", "nuget-", "sidekiq-", "freemius-", "pkcs12-")  # no tokens
_BY_NAME = r"[\w.-]{0,50}?"
_VALUE = re.compile(re.escape(r"=]{0,5}") + r"(\(.*\))" + re.escape(rf"(?:[\x60{_QUOTED}\s;]|"))
_BY_HAND = ("openai-api-key", "authress-service-client-access-key", "aws-amazon-bedrock-api-key-short-lived")
_SHORTEST, _FEWEST, _MOST_BEGINNINGS = 3, 10, 24
_PRINTABLE = string.ascii_letters + string.digits + "_-"
_CATEGORIES = {
    code.CATEGORY_WORD: string.ascii_letters + string.digits + "_",
    code.CATEGORY_DIGIT: string.digits,
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_NOT_SPACE: _PRINTABLE,
}


class Rule(NamedTuple):
    """A rule of gitleaks about tokens that need no name: its regular expression, as Python has it."""

    name: str
    regex: str
    entropy: float


class Row(NamedTuple):
    """A rule as hooks use it."""

    kind: str
    beginnings: tuple[str, ...]
    alphabet: str
    least: int
    most: int
    entropy: float


def rules_of(toml: str) -> list[Rule]:
    """Read the rules about tokens that are known without a name."""
    found = []
    for rule in tomllib.loads(toml)["rules"]:
        for regex in _alternatives(rule.get("regex", "")):
            plain = _in_python(regex)
            if plain and _BY_NAME not in regex and not rule["id"].startswith(_OTHER):
                found.append(Rule(rule["id"], plain, float(rule.get("entropy", 0))))
    return found


def assigned_of(toml: str) -> dict[str, str]:
    """Read how the values look that are known by the name they are assigned to."""
    rules = {rule["id"]: _VALUE.search(rule.get("regex", "")) for rule in tomllib.loads(toml)["rules"]}
    return {name: _in_python(found[1]) for name, found in rules.items() if found and _BY_NAME in found.string}


def _alternatives(regex: str) -> list[str]:
    """Split at the bars that stand in no group; only of a rule some of whose alternatives are by name."""
    if _BY_NAME not in regex:
        return [regex] if regex else []
    parts: list[str] = []
    depth, start, is_class = 0, 0, False
    for at, char in enumerate(regex):
        if at and regex[at - 1] == "\\":
            continue
        is_class = (is_class or char == "[") and char != "]"
        depth += (char == "(") - (char == ")") if not is_class else 0
        if char == "|" and not depth and not is_class:
            parts.append(regex[start:at])
            start = at + 1
    return [*parts, regex[start:]]


def _in_python(regex: str) -> str:
    """Spell a regular expression of Go in Python; without what must stand around a token."""
    for end in _ENDS:
        regex = regex.replace(end, "")
    regex = regex.replace("[:alnum:]", "a-zA-Z0-9").replace(r"\z", r"\Z").replace(r"\b", "")
    at = regex.find("(?i)", 1)
    while at >= 0:  # of the rest of its group
        depth, stop = 0, at + 4
        while stop < len(regex) and depth >= 0:
            is_escaped = regex[stop - 1] == "\\"
            depth += 0 if is_escaped else (regex[stop] == "(") - (regex[stop] == ")")
            stop += depth >= 0
        regex = f"{regex[:at]}(?i:{regex[at + 4 : stop]}){regex[stop:]}"
        at = regex.find("(?i)", 1)
    return regex


# ------------------------------------------------------------------------------------------- samples


def sample(regex: str, rng: random.Random) -> str:
    """Make a text that a regular expression matches."""
    return "".join(_sampled(parser.parse(regex), rng))


def _sampled(tree: Any, rng: random.Random) -> Iterator[str]:
    for kind, value in tree:
        if kind is code.LITERAL:
            yield chr(value)
        elif kind is code.IN:
            yield rng.choice(_characters(value))
        elif kind is code.ANY:  # a dot that somebody forgot to escape
            yield "."
        elif kind in (code.MAX_REPEAT, code.MIN_REPEAT):
            least, most, inner = value
            for _ in range(rng.randint(least, min(most, least + 10))):
                yield from _sampled(inner, rng)
        elif kind is code.SUBPATTERN:
            yield from _sampled(value[-1], rng)
        elif kind is code.BRANCH:
            yield from _sampled(rng.choice(value[1]), rng)


def _characters(items: Any) -> str:
    if items[0][0] is code.NEGATE:
        return _PRINTABLE
    found = ""
    for kind, value in items:
        if kind is code.LITERAL:
            found += chr(value)
        elif kind is code.RANGE:
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        elif kind is code.CATEGORY:
            found += _CATEGORIES[value]
    return "".join(sorted(set(found)))


# ------------------------------------------------------------------------------------------- rows


def row_of(rule: Rule) -> Row | None:
    """Make a row of a rule; None where its tokens have no beginning of their own."""
    if rule.name in _BY_HAND:
        return None
    folds = "(?i" in rule.regex
    ways: list[tuple[str, list[Any]]] = [("", [])]
    for step in _steps(parser.parse(rule.regex), folds=folds):
        ways = [(head, [*rest, piece]) if rest or (piece is not None and not isinstance(piece, str)) else (head + str(piece), rest)
                for head, rest in ways for piece in step]  # fmt: skip
        if len(ways) > _MOST_BEGINNINGS:
            return None
    heads = sorted({head for head, _ in ways})
    if min(map(len, heads)) < _SHORTEST or heads[0].startswith("https:"):
        return None
    lengths = [
        (sum(low for _, low, _ in map(_span, rest)), sum(high for _, _, high in map(_span, rest))) for _, rest in ways
    ]
    alphabet = "".join(sorted({char for _, rest in ways for piece in rest for char in _span(piece)[0]}))
    least, most = max(_FEWEST, min(low for low, _ in lengths)), max(high for _, high in lengths)
    if folds:
        alphabet = "".join(sorted({*alphabet, *alphabet.lower(), *alphabet.upper()}))
    bounded = alphabet.isalnum() and most < 1000
    return Row(_kind(rule.name), tuple(heads), alphabet, least, most if bounded else 0, rule.entropy)


def _span(piece: Any) -> tuple[str, int, int]:
    return (piece, len(piece), len(piece)) if isinstance(piece, str) else piece


def _steps(tree: Any, *, folds: bool) -> Iterator[list[Any]]:
    """Yield for each place what may stand there: texts, or a set of characters with how many of them."""
    for kind, value in tree:
        if kind is code.LITERAL:
            yield [chr(value)]
        elif kind is code.IN:
            characters = _characters(value)
            yield list(characters) if len(characters) <= 2 else [(characters, 1, 1)]
        elif kind is code.ANY:
            yield [(_PRINTABLE, 1, 1)]
        elif kind in (code.MAX_REPEAT, code.MIN_REPEAT):
            least, most, inner = value
            pieces = [_span(piece) for step in _steps(inner, folds=folds) for piece in step]
            width = sum(min(piece[1] for piece in map(_span, step)) for step in _steps(inner, folds=folds))
            widest = sum(max(piece[2] for piece in map(_span, step)) for step in _steps(inner, folds=folds))
            yield [
                (
                    "".join(sorted({char for piece in pieces for char in piece[0]})),
                    least * width,
                    min(most, 4096) * widest,
                )
            ]
        elif kind is code.SUBPATTERN:
            yield from _steps(value[-1], folds=folds)
        elif kind is code.BRANCH:
            yield [_alternative(branch, folds=folds) for branch in value[1]]


def _alternative(branch: Any, *, folds: bool) -> Any:
    steps = list(_steps(branch, folds=folds))
    if all(len(step) == 1 and isinstance(step[0], str) for step in steps):
        return "".join(step[0] for step in steps)
    pieces = [_span(piece) for step in steps for piece in step]
    least = sum(min(piece[1] for piece in map(_span, step)) for step in steps)
    most = sum(max(piece[2] for piece in map(_span, step)) for step in steps)
    return "".join(sorted({char for piece in pieces for char in piece[0]})), least, most


def _kind(name: str) -> str:
    return name.removesuffix("-api-key").removesuffix("-api-token") if len(name) > 30 else name


def is_covered(row: Row) -> bool:
    """Tell whether rules written by hand find all that this one finds."""

    def covers(head: str) -> bool:
        return any(
            head.startswith(beginning)
            and set(head[len(beginning) :] + row.alphabet) <= set(alphabet)
            and least <= row.least + len(head) - len(beginning)
            and (not most or (row.most and row.most + len(head) - len(beginning) <= most))
            for _, beginnings, alphabet, least, most in patterns.TOKENS
            for beginning in beginnings
        )

    return all(map(covers, row.beginnings))


def written(rows: list[Row], source: str, day: str) -> str:
    """Write the module."""
    alphabets: dict[str, str] = {}
    for row in rows:
        alphabets.setdefault(row.alphabet, f"_{len(alphabets):X}")
    lines = [
        f'"""How tokens of many services look, as data: made by `make secrets-rules` on {day}.',
        "",
        f"From the rules of gitleaks, {source}.",
        "Copyright (c) 2019 Zachary Rice, MIT License: fixtures/secrets/LICENSE-gitleaks.",
        "",
        "Imported inside agents' hooks where a text has a long word: nothing to compile.",
        '"""',
        "",
        *(f"{name} = {json.dumps(alphabet)}" for alphabet, name in alphabets.items()),
        "",
        "# kind, what it begins with, the characters that follow, at least and (unless 0) at most so many of them, entropy",
        "TOKEN_RULES = (",
        *(f"    ({json.dumps(row.kind)}, {_tuple(row.beginnings)}, {alphabets[row.alphabet]}, {row.least}, {row.most}, {row.entropy}),"
          for row in rows),
        ")",
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def beginnings(rows: list[Row]) -> str:
    """Write what hooks look for before they load the rules: with how many characters a word begins so."""
    found = sorted({(len(head) + row.least, head) for row in rows for head in row.beginnings})
    items = " ".join(f"({json.dumps(head)},\0{least})," for least, head in found)  # a space that does not wrap
    lines = textwrap.indent(textwrap.fill(items, 115, break_on_hyphens=False).replace("\0", " "), "    ")
    return f"MAINTAINED = (\n{lines}\n)  # fmt: skip"


def starts() -> str:
    """Write what hooks look for first of all: how the parts of words with a credential begin."""
    lines = textwrap.wrap(b" ".join(sorted(plain.sorted_beginnings())).decode(), 105)
    return "STARTS = frozenset(\n    (\n" + "".join(f'        b"{line} "\n' for line in lines) + "    ).split()\n)"


def _tuple(texts: tuple[str, ...]) -> str:
    return f"({', '.join(map(json.dumps, texts))}{',' * (len(texts) == 1)})"


def main(argv: list[str]) -> None:
    """Write the files from a file, or from the newest rules: `[FILE [COMMIT]] DAY`."""
    day = argv[-1]
    toml = Path(argv[0]).read_text() if len(argv) > 1 else urlopen(SOURCE, timeout=60).read().decode()
    found = rules_of(toml)
    rows = [row for rule in found if (row := row_of(rule)) and not is_covered(row)]
    source = f"commit {argv[1]}" if len(argv) > 2 else SOURCE
    RULES.write_text(written(rows, source, day))
    PATTERNS.write_text(
        re.sub(r"MAINTAINED = \(.*?\n\n", lambda _: beginnings(rows) + "\n\n", PATTERNS.read_text(), flags=re.DOTALL)
    )
    importlib.reload(patterns)
    PLAIN.write_text(re.sub(r"STARTS = .*?\n\)", lambda _: starts(), PLAIN.read_text(), flags=re.DOTALL))
    FIXTURE.parent.mkdir(exist_ok=True)
    FIXTURE.write_text(json.dumps([rule._asdict() for rule in found], indent=1) + "\n")
    ASSIGNED.write_text(json.dumps(assigned_of(toml), indent=1) + "\n")
    without = [rule.name for rule in found if row_of(rule) is None]
    sys.stdout.write(f"{len(rows)} rules; without a beginning of their own: {', '.join(without)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
