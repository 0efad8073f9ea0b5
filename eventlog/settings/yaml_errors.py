"""YAML read into a typed shape, every mistake named with its line; pure.

Types are those of msgspec; structs, mappings of structs and lists of structs are entered, so that one mistake does
not hide the next.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
import yaml

from eventlog.format.errors import value_reason

_MISSING = re.compile(r"Object missing required field `(\w+)`")
_DEEPEST = 50  # levels of YAML; nothing that is meant has more
_LARGEST = 10_000  # nodes, written out, that aliases may stand for
_SPELLED = [  # what PyYAML says, and how a person is told
    (re.compile(pattern), words)
    for pattern, words in (
        (r"expected ',' or '(.)', but got .*", r"a \1 is missing"),
        (r"mapping values are not allowed here", "a second colon: put the text in quotes"),
        (r"found character '\\t' that cannot start any token", "a tab: indent with spaces"),
        (r"found character '(.+)' that cannot start any token", r"no value begins with \1: put the text in quotes"),
        (r"could not find expected ':'", "a colon is missing"),
        (r"expected <block end>, but found .*", "it is not indented like the lines above"),
        (r"found unexpected end of stream", "a quotation mark is missing at the end of a text"),
        (r"found unknown escape character .*", "a backslash where none can be: put the text in single quotes"),
        (r"found undefined alias.*", "no value begins with *: put the text in quotes"),
        (r"could not determine a constructor for the tag .*", "no value begins with !: put the text in quotes"),
        (r"special characters are not allowed", "a character that cannot be seen"),
    )
]


class Mistake(NamedTuple):
    """A mistake in a YAML file: the line (from 1), the key, and the reason."""

    line: int
    key: str
    what: str

    def __str__(self) -> str:
        return f"{self.key}: {self.what}" if self.key else self.what


class YamlReading(NamedTuple):
    """The value, None where there are mistakes, and the line of every key (`entries[0].key.heading`).

    `parts` are the structs that could be read, by key, also where others could not.
    """

    value: Any
    mistakes: list[Mistake]
    lines: Mapping[str, int]
    parts: Mapping[str, Any]


def load(text: str, kind: type[msgspec.Struct]) -> YamlReading:
    """Convert the document to a value of that type; an empty document is an empty mapping."""
    try:
        _refuse_depth(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        return YamlReading(None, [_unreadable(error, text)], {}, {})
    except RecursionError:
        return YamlReading(None, [Mistake(1, "", "is nested too deeply")], {}, {})
    if node and _multiplies(node):
        return YamlReading(None, [Mistake(1, "", f"its aliases stand for more than {_LARGEST:,} values")], {}, {})
    reader = _YamlReader()
    value = reader.read(node, kind, "") if node else reader.build({}, kind, "", 1)
    return YamlReading(None if reader.mistakes else value, sorted(reader.mistakes), reader.lines, reader.parts)


class _YamlReader:
    """Walks nodes and types together."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []
        self.lines: dict[str, int] = {}
        self.parts: dict[str, Any] = {}
        self._constructor = yaml.SafeLoader("")

    def read(self, node: yaml.Node, kind: Any, at: str) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(at, line)
        parts = get_args(kind)
        if _is_struct(kind):
            return self._struct(node, kind, at, line)
        if get_origin(kind) is dict and _is_struct(parts[1]):
            pairs = self._pairs(node, at, line)
            return {self._leaf(key, parts[0], name): self.read(value, parts[1], name) for key, name, value in pairs}
        if get_origin(kind) is list and _is_struct(parts[0]):
            return self._list(node, parts[0], at, line)
        return self._leaf(node, kind, at)

    def build(self, fields: dict[str, Any], kind: type[msgspec.Struct], at: str, line: int) -> Any:
        """Build the struct of checked fields, or report what is wrong with all of them together."""
        try:
            self.parts[at] = msgspec.convert(fields, kind, strict=True)
        except msgspec.ValidationError as error:
            missing = _MISSING.fullmatch(_reason(error))
            key, colon, what = (missing[1], ":", "missing") if missing else _reason(error).partition(": ")
            named = _join(at, key) if colon and key in kind.__struct_fields__ else at
            self._wrong(self.lines.get(named, line), named, what if named != at else value_reason(_reason(error)))
            return None
        return self.parts[at]

    def _struct(self, node: yaml.Node, kind: type[msgspec.Struct], at: str, line: int) -> Any:
        kinds = get_type_hints(kind, include_extras=True)
        before = len(self.mistakes)
        fields: dict[str, Any] = {}
        for key, name, value in self._pairs(node, at, line):
            if key.value in kinds:
                so_far = len(self.mistakes)
                found = self.read(value, kinds[key.value], name)
                fields |= {key.value: found} if len(self.mistakes) == so_far else {}
            else:
                names = ", ".join(kinds)
                self._wrong(key.start_mark.line + 1, name, f"unknown key; known: {names}")
        if len(self.mistakes) > before and (
            at or not {field.name for field in msgspec.structs.fields(kind) if field.required} <= fields.keys()
        ):
            return None  # what it lacks has been told
        # building the outer struct checks its own rules once more
        return self.build({name: msgspec.to_builtins(value) for name, value in fields.items()}, kind, at, line)

    def _list(self, node: yaml.Node, kind: Any, at: str, line: int) -> list[Any]:
        if not isinstance(node, yaml.SequenceNode):
            self._wrong(line, at, "expected a list")
            return []
        return [self.read(item, kind, f"{at}[{position}]") for position, item in enumerate(node.value)]

    def _pairs(self, node: yaml.Node, at: str, line: int) -> Iterator[tuple[yaml.ScalarNode, str, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self._wrong(line, at, "expected a mapping of keys to values")
            return
        seen = set()
        for key, value in node.value:
            name = _join(at, str(key.value) if isinstance(key, yaml.ScalarNode) else "?")
            self.lines[name] = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or name in seen:
                self._wrong(self.lines[name], name, "is given twice" if name in seen else "is not a plain key")
                continue
            seen.add(name)
            yield key, name, value

    def _leaf(self, node: yaml.Node, kind: Any, at: str) -> Any:
        try:
            return msgspec.convert(self._constructor.construct_object(node, deep=True), kind)
        except (msgspec.ValidationError, yaml.YAMLError, ValueError, RecursionError) as error:
            self._wrong(node.start_mark.line + 1, at, value_reason(_reason(error), kind))
        return None

    def _wrong(self, line: int, key: str, what: str) -> None:
        self.mistakes.append(Mistake(line, key, what))


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _join(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _reason(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error)
    return str(problem).partition(" - at `")[0]


def _refuse_depth(text: str) -> None:
    """Refuse a document that nests too deep: PyYAML's parser recurses once per level."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise RecursionError


def _multiplies(root: yaml.Node) -> bool:
    """Return whether aliases, written out, exceed the limit; an alias of what it stands in counts once."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = 1
            sizes[id(node)] += sum(map(size, _children(node)))
        return sizes[id(node)]

    return size(root) - len(sizes) > _LARGEST


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        yield from (part for pair in node.value for part in pair)


def _unreadable(error: yaml.YAMLError, text: str) -> Mistake:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return Mistake(mark.line + 1 if mark else 1, "", f"not YAML: {_yaml_reason(error.problem or '')}")
    position = getattr(error, "position", 0)
    return Mistake(text.count("\n", 0, position) + 1, "", f"not YAML: {_yaml_reason(getattr(error, 'reason', ''))}")


def _yaml_reason(problem: str) -> str:
    """Translate the errors of YAML's own reader."""
    for pattern, words in _SPELLED:
        if found := pattern.fullmatch(problem):
            return found.expand(words)
    return "it cannot be understood from here on"
