"""What the README shows on a terminal is what the program prints: the same commands, in the same order."""

import re

import pytest

from tests.docs.follow import Checkout
from tests.support.pasts import conversation
from tests.support.tree import ROOT, needs_tree

needs_tree()
README = (ROOT / "README.md").read_text(encoding="utf-8")
# what differs from machine to machine and from day to day
_DIFFERS = {
    "id": r"[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?",
    "short": r"(?<=\[)[0-9a-f]{6}(?=\])|(?<=resolve )[0-9a-f]{6}|(?m:^)[0-9a-f]{6}(?=  ~)",
    "slug": r"shop-[0-9a-f]{6}",
    "time": r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d\.\d{6}Z)?",
    "home": r"/home/ada",
    "size": r"\d,\d{3}(?= characters)",
}
_DIFFERING = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _DIFFERS.items()))


class Reader:
    """Someone who types what the README shows; ids they were given stand for those it shows."""

    def __init__(self, checkout):
        self._checkout = checkout
        self._given = {}  # what the README shows -> what was printed instead

    def type(self, command, shown):
        """Run a command, and compare what it prints with what is shown."""
        for there, here in self._given.items():
            command = command.replace(there, here)
        printed = self._checkout.run(command)
        found = re.fullmatch(self._pattern(shown), printed, re.DOTALL)
        assert found, f"{command}\n{printed}"
        differing = [part.group() for part in _DIFFERING.finditer(shown)]
        self._given |= {there: here for there, here in zip(differing, found.groups(), strict=True) if "/" not in there}

    @staticmethod
    def _pattern(shown):
        parts, end = [], 0
        for part in _DIFFERING.finditer(shown):
            pattern = r"/\S*?" if part.lastgroup == "home" else _DIFFERS[part.lastgroup or ""]
            parts += [re.escape(shown[end : part.start()]), f"({pattern})"]
            end = part.end()
        return "".join([*parts, re.escape(shown[end:])]).replace("…", ".*")


def session(heading):
    """Commands and what they print, of all terminals below a heading."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for block in re.findall(r"^```console\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        for told in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = told.partition("\n")
            yield command, shown


@pytest.fixture
def checkout(tmp_path):
    checkout = Checkout(tmp_path)
    checkout.work_in("shop")
    return checkout


@pytest.fixture
def reader(checkout):
    return Reader(checkout)


def test_the_first_terminal_is_true(reader):
    told = [
        (command, shown) for command, shown in session("What it looks like") if not command.startswith("eventlog why")
    ]
    assert len(told) == 4

    for command, shown in told:
        reader.type(command, shown)


def test_the_line_of_the_demo_comes_from_where_is_shown(reader, checkout):
    checkout.run(f"eventlog append --stdin < {ROOT}/fixtures/demo/events.jsonl")
    checkout.run("eventlog replay")
    [(command, shown)] = session("Lessons")  # a heading of the file that is shown above it

    reader.type(command, shown)


def test_the_terminal_about_installing_is_true(reader, checkout):
    (checkout.home / ".codex").mkdir()
    told = list(session("Install"))
    assert len(told) == 2

    for command, shown in told:
        reader.type(command, shown)


def test_the_terminals_about_knowledge_bases_are_true(reader):
    told = list(session("Knowledge bases: USER.md, SOUL.md, AGENTS.md"))
    assert len(told) == 7

    for command, shown in told:
        reader.type(command, shown)


def test_the_terminals_about_what_a_session_starts_with_are_true(reader, checkout):
    checkout.run(r"printf '# The shop\n\nPrices are integers, in cents.\n' > AGENTS.md")
    checkout.run('eventlog fact "Round half even, once per line item" --category decision --session s1')
    checkout.run('eventlog summary --topic Cart --summary "Rewrote the cart on integers" --session s1')
    told = list(session("What a session starts with"))
    assert len(told) == 2

    for command, shown in told:
        reader.type(command, shown)


def test_the_terminal_about_import_is_true(reader, checkout):
    conversation(checkout.home, "5f0c", "2026-02-20T10:00:00.000000Z")
    conversation(checkout.home, "7a1e", "2026-02-21T10:00:00.000000Z")
    told = list(session("Start full: import"))
    assert len(told) == 3

    for command, shown in told:
        reader.type(command, shown)
