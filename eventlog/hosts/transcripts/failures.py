"""Failures of commands, known again by a signature, and the command that passed afterwards; pure.

A signature is made of the program and of the line of its output that names the error, without paths, numbers, hashes
and times: the same failure has the same one on another day, in another directory. A passed command is of use only if
nothing was edited between the two, and if it is another one: then the surroundings made the difference, not the code.

Only commands are told that any agent may repeat: tests, builds, linters, and package installs within the project.
Whatever is not on that list is left out, so nothing irreversible can be among them.
"""

import re
from hashlib import sha256

from eventlog.format.text import one_line
from eventlog.hosts.save_commands import NotPlain, read_commands
from eventlog.hosts.transcripts.steps import Step

_MAX_FIXES = 8  # of a session
_LONGEST_COMMAND, _LONGEST_ERROR = 200, 200
_LOOKED_AT = 4000  # characters, at the end of an output
_PREFIX = "e0"  # a letter and a digit: a search takes it for a name, and keeps it whole

# ------------------------------------------------------------------------------------------------ which failure

_ERROR = re.compile(
    r"\b\w*(?:Error|Exception)\b|\b(?:error|fatal|panic)\b|\bNo (?:module|rule|such|matching)\b|\bnot found\b"
    r"|\bcannot\b|\bcan't\b|\bunable to\b|\bis out of date\b|\bmissing\b|\brefused\b|\bdenied\b",
    re.IGNORECASE,
)
_OF_CODE = re.compile(
    r"\b(?:AssertionError|SyntaxError|IndentationError|NameError|TypeError|AttributeError)\b|^(?:E  |FAILED)"
)
_OF_PLACE = re.compile(r"\bcd:|can't open file")  # where the agent was, no trouble of the program
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_VARYING = (
    (re.compile(r"\b\d{1,4}[-/:.]\d{1,2}[-/:.]\d{1,4}\S*"), "#"),  # dates, times, versions
    (re.compile(r"(?:[A-Za-z]:)?(?:[\w.~+@-]*[/\\])+[\w.~+@-]*"), "/"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,64}\b", re.IGNORECASE), "#"),
    (re.compile(r"\d+"), "#"),
)
_WORDS = re.compile(r"[^\W\d_]{3,}")
_EMPTY_WORDS = """
error errors exception fatal failed failure module named name such file directory not found the and for was cannot can
invalid syntax importerror modulenotfounderror exit code status command
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())


def signature(command: str, output: str) -> str:
    """Make the signature of a failed command from its output; "" where no line names an error of the surroundings."""
    program, error = _program(command), _error_in(output)
    digest = sha256(f"{program}\n{error}".encode()).hexdigest()
    return f"{_PREFIX}{digest[:10]}" if program and error else ""


def _program(command: str) -> str:
    """Name the last program of a command that is on the list, with the module or script it runs; "" for none."""
    names = [name for words in _commands(command) if (name := _kind(words))]
    return names[-1] if names else ""


def _error_in(output: str) -> str:
    """Find the last line that names an error, without what varies; "" for errors of the code, and for empty names."""
    lines = _COLOUR.sub("", output)[-_LOOKED_AT:].splitlines()
    for line in reversed(lines):
        if _OF_CODE.search(line) or _OF_PLACE.search(line):
            return ""
        if _ERROR.search(line):
            text = _without_varying(line)
            telling = {word.lower() for word in _WORDS.findall(text)} - _EMPTY
            return text if telling else ""
    return ""


def _without_varying(line: str) -> str:
    """Return a line of output without paths, numbers, hashes and times."""
    text = one_line(line)
    for pattern, place in _VARYING:
        text = pattern.sub(place, text)
    return text[:_LONGEST_ERROR]


# ------------------------------------------------------------------------------------------------ which command

_NOISE = re.compile(r"\s*(?:2>&1)?\s*(?:\|\s*(?:tail|head|grep|cat|tee)\b[^|;&]*)*$")
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=\S*")
_PYTHON = re.compile(r"(?:\S*/)?python(?:3(?:\.\d+)?)?")
_TEST_SCRIPT = re.compile(r"(?:\S*/)?run_?tests?\.py")
_MODULES = frozenset(("pytest", "unittest", "nose", "tox", "mypy", "ruff", "flake8", "pylint", "black", "isort",
                      "build", "compileall", "pip", "coverage"))  # fmt: skip
_PROGRAMS = """
pytest py.test tox nox jest vitest mocha rspec phpunit ctest runtests mypy ruff flake8 pylint pyright eslint tsc
shellcheck clippy golangci-lint ninja
"""
_ALONE = frozenset(_PROGRAMS.split())
_WITH_VERB = {  # program -> verbs that test, build, check or install
    "go": "test build vet",
    "cargo": "test build check clippy nextest",
    "dotnet": "test build restore",
    "swift": "test build",
    "deno": "test check lint",
    "mix": "test compile deps.get",
    "mvn": "test compile verify package",
    "gradle": "test build check assemble",
    "gradlew": "test build check assemble",
    "bazel": "test build",
    "pip": "install",
    "pip3": "install",
    "poetry": "install lock run",
    "uv": "sync lock run",
    "bundle": "install exec",
    "composer": "install",
    "npm": "test ci install run",
    "pnpm": "test install run",
    "yarn": "test install run",
    "bun": "test install run",
    "npx": "",
}
_TELL_NOTHING = frozenset(("cd", "python", "python3", "pip", "install", "run", "npm", "make", "test", "build"))
_RUNS = frozenset(("run", "exec"))  # verbs that are followed by a program, or by the name of a script
_SCRIPTS = re.compile(r"(?:test|lint|build|check|typecheck|type-check|compile)(?:[:.-][\w:.-]+)?")
_NOT_IN_MAKE = re.compile(
    r"deploy|publish|release|clean|drop|reset|delete|destroy|purge|push|prod|rollback|uninstall|wipe|nuke|prune|down"
    r"|kill|remove|rm|migrat|upload|apply|restore|erase|flush|install|seed|truncate",
    re.IGNORECASE,
)
_NEVER = re.compile(
    r"--?(?:force\S*|hard|global|g|user|system|break-system-packages|target\S*|prefix\S*|root\S*|delete\S*|prune|purge"
    r"|uninstall|no-verify|fix\S*|write|in-place|yes)|.*://.*|.*\bgit\+.*"
)


def repeatable(command: str) -> str:
    """Return a command that any agent may repeat, without what was done with its output; "" for any other."""
    plain = _NOISE.sub("", command).strip()
    found = _commands(plain)
    if not found or len(plain) > _LONGEST_COMMAND or plain != one_line(plain):
        return ""
    kinds = [_kind(words) for words in found]
    others = [words for kind, words in zip(kinds, found, strict=True) if not kind]
    # the others may only go to a directory below
    only_move = all(words[0] == "cd" and len(words) == len(("cd", "place")) for words in others)
    inside = only_move and not any(words[1].startswith(("/", "~", "-")) or ".." in words[1] for words in others)
    return plain if inside and any(kinds) else ""


def _commands(command: str) -> list[list[str]]:
    """List the words of each single command of a line, without assignments; none where it is not plain."""
    try:
        found = read_commands(_NOISE.sub("", command))
    except NotPlain:
        return []
    first = [next((at for at, word in enumerate(words) if not _ASSIGNMENT.fullmatch(word)), 0) for words in found]
    return [words[at:] for at, words in zip(first, found, strict=True)]


def _kind(words: list[str]) -> str:
    """Name a command that tests, builds, checks or installs; "" for any other."""
    program, rest = words[0].rpartition("/")[2], words[1:]
    if any(_NEVER.fullmatch(word) for word in rest):
        return ""
    if _PYTHON.fullmatch(words[0]):
        return _kind_of_python(rest)
    if program == "make":
        targets = [word for word in rest if not word.startswith("-")]
        is_known = not any(_NOT_IN_MAKE.search(word) for word in rest) and "-f" not in rest and "-C" not in rest
        return " ".join(("make", *targets)) if is_known else ""
    if program in _ALONE:
        return program
    return _kind_of_verb(program, rest)


def _kind_of_python(rest: list[str]) -> str:
    match rest:
        case ["-m", module, *arguments] if module in _MODULES:
            return f"python -m {module}" if module != "pip" or arguments[:1] == ["install"] else ""
        case [script, *_] if _TEST_SCRIPT.fullmatch(script):
            return "python test"
        case ["setup.py" | "manage.py" as script, "build" | "build_ext" | "develop" | "test" | "check" as verb, *_]:
            return f"python {script} {verb}"
    return ""


def _kind_of_verb(program: str, rest: list[str]) -> str:
    verbs = _WITH_VERB.get(program)
    rest = rest[next((at for at, word in enumerate(rest) if not word.startswith("-")), len(rest)) :]
    if verbs is None or not rest:
        return ""
    if program == "npx":
        return _kind(rest)
    if rest[0] not in verbs.split():
        return ""
    if rest[0] in _RUNS and len(rest) > 1:
        inner = _kind(rest[1:]) if program in ("poetry", "uv", "bundle") else ""
        return inner or (f"{program} {rest[1]}" if _SCRIPTS.fullmatch(rest[1]) else "")
    return f"{program} {rest[0]}" if rest[0] not in _RUNS else ""


# ------------------------------------------------------------------------------------------------ drawn from steps


class _ShellRun:
    """A command of a session, and how many files were changed before it."""

    def __init__(self, command: str, edits: int) -> None:
        self.command = command
        self.edits = edits
        self.has_passed = False
        self.failure = ""  # the signature


class Failures:
    """The commands of a session in their order, collected while its steps go by."""

    def __init__(self) -> None:
        self._runs: list[_ShellRun] = []
        self._edits = 0
        self._failed: _ShellRun | None = None

    def add(self, step: Step) -> None:
        """Take in a step: a command, its failure, what it printed, or a changed file."""
        match step:
            case ("file" | "created", _):
                self._edits += 1
            case ("command", command):
                self._runs.append(_ShellRun(command, self._edits))
            case ("failed", command):
                self._failed = self._last(command)
            case ("passed", command) if run := self._last(command):
                run.has_passed = True
            case ("output", output) if self._failed:
                self._failed.failure = signature(self._failed.command, output)

    def _last(self, command: str) -> _ShellRun | None:
        return next((run for run in reversed(self._runs) if run.command == command), None)

    def fixes(self) -> list[dict[str, str]]:
        """List the failures after which another command passed, each once, as events have them."""
        found: dict[str, str] = {}
        for at, run in enumerate(self._runs):
            if run.failure and (passed := self._passed_after(at, run)):
                found[run.failure] = passed
        return [{"failure": failure, "passed": passed} for failure, passed in found.items()][:_MAX_FIXES]

    def _passed_after(self, at: int, failed: _ShellRun) -> str:
        """Find the next command about the same that passed, if nothing was edited; "" for none, or for the same."""
        later = (run.command for run in self._runs[at + 1 :] if run.has_passed and run.edits == failed.edits)
        words = _named_in(failed.command)
        passed = ((text, _named_in(text)) for text in map(repeatable, later) if text)
        found, named = next((pair for pair in passed if words & pair[1] - _TELL_NOTHING), ("", words))
        return found if named != words else ""


def _named_in(command: str) -> set[str]:
    """List the words of a command but options, files by their last names."""
    words = (word.rpartition("/")[2] for words in _commands(command) for word in words)
    return {word for word in words if not word.startswith("-")}
