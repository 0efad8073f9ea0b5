"""Effects of a call of a tool, whatever its host calls it."""

import re
from collections.abc import Iterator
from typing import Any

from eventlog.format import untrusted_json
from eventlog.hosts import shell
from eventlog.hosts.steps import Step, dig

_WRITES = frozenset(
    ("write", "edit", "multiedit", "notebookedit", "writefile", "replace", "searchreplace", "editfile", "create",
     "createfile", "strreplace", "strreplaceeditor", "delete", "deletefile", "insertedit", "replacestringinfile")
)  # fmt: skip
_PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path")
_RUNS = frozenset(
    ("bash", "shell", "execcommand", "runshellcommand", "runterminalcmd", "runterminalcommand", "localshell", "exec",
     "runinterminal", "powershell")
)  # fmt: skip
_PATCHES = frozenset(("applypatch",))
_PLANS = frozenset(("todowrite", "updateplan", "writetodos", "updatetodo"))
_PATCH_HEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
_DONE = ("completed", "cancelled")
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")
_OPEN_BOX = re.compile(r"^\s*[-*] \[ \] +(\S.*)$", re.MULTILINE)


def from_tool(name: str, arguments: Any) -> Iterator[Step]:
    """The steps of one call; its arguments as an object, or as the JSON text of one."""
    plain = name.rpartition("__")[2].casefold().replace("_", "")
    arguments = _parsed(arguments)
    if plain in _WRITES:
        path = next((dig(arguments, key) for key in _PATHS if isinstance(dig(arguments, key), str)), "")
        if path and dig(arguments, "command") != "view":
            yield Step("file", path)
    elif plain in _RUNS:
        if command := _command(arguments):
            yield from _patched(command)
            yield from (Step("file", path) for path in shell.files_written(command))
            yield Step("command", command)
    elif plain in _PATCHES:
        yield from _patched(_command(arguments))
    elif plain in _PLANS:
        yield Step("todos", "\n".join(_open_todos(arguments)))


def from_blocks(content: Any) -> Iterator[Step]:
    """The steps of the calls among the blocks of a message, as Anthropic's API has them."""
    for block in content if isinstance(content, list) else ():
        if dig(block, "type") == "tool_use":
            yield from from_tool(str(dig(block, "name")), dig(block, "input"))


def _parsed(arguments: Any) -> Any:
    found = untrusted_json.object_in(arguments) if isinstance(arguments, str) else None
    return arguments if found is None else found


def _command(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    said = next((dig(arguments, key) for key in ("command", "cmd", "input") if dig(arguments, key)), "")
    if not isinstance(said, list):
        return str(said)
    match [str(word) for word in said]:
        case [program, _, *_, script] if _SHELLS.fullmatch(program):
            return script
        case words:
            return " ".join(words)


def _patched(patch: str) -> Iterator[Step]:
    for line in patch.splitlines() if "*** Begin Patch" in patch else ():
        for head in _PATCH_HEADS:
            if line.startswith(head):
                yield Step("file", line.removeprefix(head).strip())


def _open_todos(arguments: Any) -> list[str]:
    items: Any = next((found for key in ("todos", "plan") if (found := dig(arguments, key))), [])
    if isinstance(items, str):
        return _OPEN_BOX.findall(items)
    said = [
        (dig(item, "content") or dig(item, "step") or dig(item, "description"), dig(item, "status"))
        for item in (items if isinstance(items, list) else [])
    ]
    return [text for text, status in said if isinstance(text, str) and status not in _DONE]
