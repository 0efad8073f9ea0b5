"""Decisions of a team: shared by a file, told after a yes to its bytes, withdrawn with the file, at every clone."""

import json
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from eventlog.app.team.decisions import PLACE, Decision, settle
from eventlog.format import ids
from eventlog.format.events import Fact
from eventlog.log.event_log import EventLog
from eventlog.projects.approvals import Approvals
from eventlog.store import Store
from tests.support.command_line import call
from tests.support.effort import rounds, seed
from tests.support.hook_calls import errors_of, tell
from tests.support.payloads import claude
from tests.support.repositories import git, repository

pytestmark = pytest.mark.slow

_WORD = 0xFFFFFFFF
TEXT = "Invoices are immutable; corrections are new invoices"


class Person:
    """Somebody with a clone and a store of their own."""

    def __init__(self, folder, name, origin):
        self.store, self.clone = folder / f"{name}-store", folder / name
        git(folder, "clone", "--quiet", str(origin), str(self.clone))
        git(self.clone, "config", "user.name", name)
        git(self.clone, "config", "user.email", f"{name}@a.example")

    def __call__(self, *args, code=0):
        done = call(*args, "--store", self.store)
        assert code == done.code, done
        return done.out

    def fact(self, text, *more):
        return json.loads(self("fact", text, "--project", self.clone, "--session", "s1", *more))["id"]

    def share(self, *named):
        return [json.loads(line) for line in self("share", *named, "--checkout", self.clone).splitlines()]

    def team(self):
        return json.loads(self("team", "--json", "--checkout", self.clone))

    def trust(self, *more):
        return self("team", "trust", "--checkout", self.clone, *(more or ["--yes"]))

    def push(self):
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "--quiet", "-m", "decisions")
        git(self.clone, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
        git(self.clone, "push", "--quiet", "origin", "HEAD:main")

    def pull(self):
        git(self.clone, "pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")

    def start(self, **fields):
        payload = claude("SessionStart", source="startup", cwd=str(self.clone)) | {
            "session_id": f"n{random.random()}",
            **fields,
        }
        return tell(self.store, payload, "--agent", "claude-code").decode()

    def prompt(self, text):
        payload = claude("UserPromptSubmit", prompt=text, cwd=str(self.clone)) | {"session_id": f"n{random.random()}"}
        return tell(self.store, payload, "--agent", "claude-code").decode()

    def hears(self, text):
        """Where this person's agents are told a text."""
        question = f"why is it that {text}?"
        places = {
            "start": self.start(),
            "prompt": self.prompt(question),
            "context": self("context", "--project", self.clone),
            "search": self("search", text, "--project", self.clone),
            "memory": self("memory", self.clone),
        }
        return {place for place, said in places.items() if text in said}


EVERYWHERE = {"start", "prompt", "context", "search", "memory"}


@pytest.fixture
def origin(tmp_path):
    path = tmp_path / "origin.git"
    git(tmp_path, "init", "--quiet", "--bare", str(path))
    repository(tmp_path / "first")
    git(tmp_path / "first", "push", "--quiet", str(path), "HEAD:main")
    return path


@pytest.fixture
def ada(tmp_path, origin):
    return Person(tmp_path, "ada", origin)


@pytest.fixture
def bob(tmp_path, origin):
    return Person(tmp_path, "bob", origin)


def test_a_shared_decision_is_a_file_with_who_when_and_why(ada):
    event = ada.fact(TEXT, "--category", "decision")
    (shared,) = ada.share(event, "--why", "The auditors asked for it")
    said = Path(shared["file"]).read_text()

    assert (event, "ok") == (shared["id"], shared["status"])
    assert [f"id: {event}", "who: ada", TEXT, "The auditors asked for it"] == [
        line for line in said.splitlines() if line.startswith(("id:", "who:", "Inv", "The"))
    ]
    assert ["skipped"] == [one["status"] for one in ada.share(event)]
    assert ["yours"] == [row["state"] for row in ada.team()]


def test_every_decision_of_a_summary_is_a_file(ada):
    words = ("summary", "--topic", "T", "--summary", "S", "--decision", "One thing", "--decision", "Another")
    event = json.loads(ada(*words, "--session", "s1", "--project", ada.clone))["id"]

    assert [event, event] == [one["id"] for one in ada.share(event)]
    assert {"One thing", "Another"} == {row["text"] for row in ada.team()}


def test_an_untrusted_checkout_is_told_nowhere_and_a_trusted_one_everywhere(ada, bob):
    ada.share(ada.fact(TEXT))
    ada.push()
    bob.pull()

    assert ["not trusted"] == [row["state"] for row in bob.team()]
    assert set() == bob.hears(TEXT)
    bob.trust()
    assert ["trusted"] == [row["state"] for row in bob.team()]
    assert EVERYWHERE == bob.hears(TEXT)


def test_what_was_trusted_is_explained_forgotten_and_had_back_like_any_fact(ada, bob):
    ada.share(ada.fact(TEXT), "--why", "The auditors asked for it")
    ada.push()
    bob.pull()
    bob.trust()
    (fact,) = [event for event in EventLog(bob.store).read() if isinstance(event, Fact)]

    assert ("ada", TEXT, "The auditors asked for it") == (fact.agent, fact.content, fact.reason)
    bob("forget", fact.id, "--yes")
    assert set() == bob.hears(TEXT)
    bob("undo", "--yes")
    assert EVERYWHERE == bob.hears(TEXT)


def test_a_changed_file_is_not_told_until_it_is_trusted_again(ada, bob):
    ada.share(ada.fact(TEXT))
    ada.push()
    bob.pull()
    bob.trust()
    (file,) = (bob.clone / PLACE).iterdir()
    file.write_text(file.read_text().replace("immutable", "sacred"))

    assert set() == bob.hears(TEXT) | bob.hears(TEXT.replace("immutable", "sacred"))
    assert ["changed since it was trusted"] == [row["state"] for row in bob.team()]
    bob.trust()
    assert EVERYWHERE == bob.hears(TEXT.replace("immutable", "sacred"))
    assert set() == bob.hears(TEXT)


@pytest.mark.parametrize("first", ["start", "prompt", "verb"])
def test_a_withdrawn_decision_is_told_at_no_clone_after_one_pull(ada, bob, first):
    event = ada.fact(TEXT)
    ada.share(event)
    ada.push()
    bob.pull()
    bob.trust()
    assert EVERYWHERE == bob.hears(TEXT)
    bob("share", event, "--withdraw", "--checkout", bob.clone)  # known to him by its file only
    assert set() == bob.hears(TEXT)
    bob.push()
    ada.pull()

    said = {
        "start": ada.start,
        "prompt": lambda: ada.prompt(TEXT),
        "verb": lambda: ada("context", "--project", ada.clone),
    }
    assert TEXT not in said[first]()
    assert set() == ada.hears(TEXT)
    assert ["withdrawn"] == [row["state"] for row in ada.team()] == [row["state"] for row in bob.team()]


def test_a_decision_is_withdrawn_on_another_machine_of_the_person_who_shared_it(tmp_path, origin, ada):
    laptop = Person(tmp_path, "laptop", origin)
    for person in (ada, laptop):
        git(person.clone, "remote", "set-url", "origin", "ssh://git@a.example/shop.git")
        git(person.clone, "config", f"url.{origin}.insteadOf", "ssh://git@a.example/shop.git")
    decision = ada.fact(TEXT, "--category", "decision")
    ada("replay")
    ada.share(decision)
    ada.push()
    code = json.loads(ada("sync", "start", f"dir:{tmp_path}/hub", "--json"))["code"]
    laptop.pull()
    laptop.fact("The tea is green")
    laptop("sync", "join", f"dir:{tmp_path}/hub", code)
    assert EVERYWHERE == laptop.hears(TEXT)

    assert "withdrawn" in laptop("share", decision, "--withdraw", "--checkout", laptop.clone)
    assert set() == laptop.hears(TEXT)
    laptop("sync")
    ada("sync")
    assert set() == ada.hears(TEXT)
    git(laptop.clone, "checkout", "--quiet", ".")
    laptop("replay")
    assert EVERYWHERE == laptop.hears(TEXT)


def test_another_reason_replaces_the_file_and_the_decision_stays(ada):
    event = ada.fact(TEXT)
    ada.share(event, "--why", "The auditors")
    ada.share(event, "--why", "The tax office")

    assert ["The tax office"] == [row["why"] for row in ada.team() if row["state"] == "yours"]
    assert EVERYWHERE == ada.hears(TEXT)


def test_a_withdrawn_decision_of_ones_own_makes_no_session(ada):
    shared = ada.fact(TEXT)
    ada.share(shared)
    ada("share", shared, "--withdraw", "--checkout", ada.clone)

    assert [line.split("\t")[2] for line in ada("sessions", "--all-projects").splitlines()] == ["s1"]


def test_agreements_that_are_stored_meanwhile_are_not_overwritten(tmp_path, monkeypatch):
    store = Store(str(tmp_path))
    entry = {"digest": "d", "project": "/p", "conversation": "c", "who": "bob", "event": "e"}
    file = tmp_path / "decision.md"
    Approvals(store).add({str(file): entry})

    def agree_meanwhile(path, entry):
        Approvals(store).add({"/p/hooks.toml": "d1", str(file): {**entry, "digest": "d2"}})
        entry["stamp"] = [1]
        return True

    monkeypatch.setattr("eventlog.projects.approvals.Approvals.has_content", agree_meanwhile)
    Approvals(store).withdraw_gone()
    now = json.loads(Path(store.trusted).read_text())

    assert now == {"/p/hooks.toml": "d1", str(file): {**entry, "digest": "d2"}}


def test_of_many_who_agree_at_once_nobody_is_lost(tmp_path):
    store = Store(str(tmp_path))
    with ThreadPoolExecutor(8) as people:
        list(people.map(lambda number: Approvals(store).add({f"/p/{number}": "d"}), range(40)))

    assert len(json.loads(Path(store.trusted).read_text())) == 40


def test_a_decision_that_comes_back_is_told_again(ada, bob):
    ada.share(ada.fact(TEXT))
    ada.push()
    bob.pull()
    bob.trust()
    (file,) = (bob.clone / PLACE).iterdir()
    for _ in range(3):
        data = file.read_bytes()
        file.unlink()
        assert set() == bob.hears(TEXT)
        file.write_bytes(data)
        bob("team", "trust", "--yes", "--checkout", bob.clone)
        assert EVERYWHERE == bob.hears(TEXT)


def test_a_file_that_is_exchanged_right_after_it_was_looked_at_says_nothing_nobody_agreed_to(ada, bob, monkeypatch):
    ada.share(ada.fact(TEXT))
    ada.push()
    bob.pull()
    bob.trust()
    (file,) = (bob.clone / PLACE).iterdir()
    agreed = file.read_bytes()
    file.unlink()
    assert set() == bob.hears(TEXT)
    file.write_bytes(agreed)
    compared = Approvals.compared

    def exchanged(entry, data):
        found = compared(entry, data)
        file.write_bytes(agreed.replace(b"immutable", b"worthless"))
        return found

    monkeypatch.setattr(Approvals, "compared", exchanged)
    monkeypatch.setattr(Approvals, "has_content", staticmethod(lambda path, entry: bool(exchanged(entry, b"")) or True))
    settle(EventLog(Store(str(bob.store))))

    assert not [
        event for event in EventLog(Store(str(bob.store))).read() if "worthless" in getattr(event, "content", "")
    ]


def test_another_branch_takes_nobodys_own_decision_away(ada):
    git(ada.clone, "switch", "--quiet", "-c", "work")
    ada.share(ada.fact(TEXT))
    git(ada.clone, "add", "-A")
    git(ada.clone, "commit", "--quiet", "-m", "decision")
    git(ada.clone, "switch", "--quiet", "main")

    assert not list((ada.clone / PLACE).glob("*"))
    assert EVERYWHERE == ada.hears(TEXT)


def test_two_people_who_differ_under_one_key_are_both_told_until_one_withdraws(ada, bob):
    ours = ada.fact("The shop listens on port 8443", "--key", "port")
    theirs = bob.fact("The shop listens on port 9443", "--key", "port")
    for person, event in ((ada, ours), (bob, theirs)):
        person.share(event)
        person.push()
    ada.pull()
    ada.trust()

    assert EVERYWHERE == ada.hears("port 8443") == ada.hears("port 9443")
    assert "people differ" in ada("team", "check", "--checkout", ada.clone, code=1)
    bob("share", theirs, "--withdraw", "--checkout", bob.clone)
    bob.push()
    ada.pull()
    assert set() == ada.hears("port 9443")
    assert EVERYWHERE == ada.hears("port 8443")


def test_consent_taken_back_withdraws_what_others_share_and_nothing_of_ones_own(ada, bob):
    ada.share(ada.fact(TEXT))
    ada.push()
    bob.share(bob.fact("Round half even, once per line item"))
    bob.push()
    bob.trust()
    bob.trust("--withdraw")

    assert set() == bob.hears(TEXT)
    assert EVERYWHERE == bob.hears("Round half even, once per line item")
    bob.trust()
    assert EVERYWHERE == bob.hears(TEXT)


def test_facts_about_the_user_and_of_other_projects_are_not_shared(ada, bob):
    mine = json.loads(ada("fact", "I like tabs", "--project", ""))["id"]
    other = bob.fact("Of another place")

    assert "about you" in call("share", mine, "--checkout", ada.clone, "--store", ada.store).err
    assert "no event has this id" in call("share", other, "--checkout", ada.clone, "--store", ada.store).err
    assert 2 == call("share", mine, "--checkout", ada.store.parent, "--store", ada.store).code
    assert not (ada.clone / PLACE).exists()


def test_in_ci_a_checkout_is_listed_and_checked_without_a_store(ada, monkeypatch):
    ada.share(ada.fact(TEXT))
    monkeypatch.chdir(ada.clone)
    nowhere = ada.store.parent / "none"

    listed = call("team", "--store", nowhere)
    checked = call("team", "check", "--store", nowhere)
    assert (0, 0) == (listed.code, checked.code)
    assert TEXT in listed.out
    assert "1 decision, nothing wrong" in checked.out
    assert not nowhere.exists()


def test_hostile_files_are_named_and_break_no_start(ada, bob):
    ada.share(ada.fact(TEXT))
    folder = ada.clone / PLACE
    (folder / "bomb.md").write_text("---\na: &a [x,x]\nb: [*a,*a]\n---\n")
    (folder / "huge.md").write_bytes(b"x" * (1 << 20))
    (folder / "out.md").symlink_to("/etc/passwd")
    ada.push()
    bob.pull()
    trusted = bob.trust()

    assert ["refused"] * 3 == [row["state"] for row in bob.team() if row["refused"]]
    assert 3 == trusted.count("✗")
    assert EVERYWHERE == bob.hears(TEXT)
    assert [] == errors_of(bob.store)
    assert 1 == call("team", "check", "--checkout", bob.clone, "--store", bob.store).code


def test_a_person_is_shown_every_byte_and_asked(ada, bob):
    ada.share(ada.fact(TEXT))
    (file,) = (ada.clone / PLACE).iterdir()
    file.write_text(file.read_text() + "\u202ehidden\n")
    ada.push()
    bob.pull()
    shown = call("team", "trust", "--checkout", bob.clone, "--store", bob.store)

    assert 2 == shown.code
    assert "--yes confirms" in shown.err
    assert TEXT in shown.out
    assert "\u202e" not in shown.out
    assert set() == bob.hears(TEXT)


def test_a_colleague_named_like_an_agent_is_not_taken_for_it(ada, bob):
    for name in ("human", "claude"):
        git(ada.clone, "config", "user.name", name)
        ada.share(ada.fact(f"{TEXT} of {name}"))
    ada.push()
    bob.pull()
    bob.trust()

    assert {"human (team)", "claude (team)"} == {e.agent for e in EventLog(bob.store).read() if e.type == "fact"}


def test_a_store_without_consent_pays_for_one_look(ada, monkeypatch):
    loaded = []
    monkeypatch.setattr("eventlog.projects.approvals.Approvals", lambda *of: loaded.append(of))
    ada.start()

    assert [] == loaded


def _lines_as_git_knows_them(data):
    """The numbers by which git (diffcore-delta.c) counts what two files share: of each line, or 64 bytes of it."""
    found, one, other, length = set(), 0, 0, 0
    for byte in data:
        one, other = (one << 7 ^ other >> 25) & _WORD, (other << 7 ^ one >> 25) & _WORD
        one, length = (one + byte) & _WORD, length + 1
        if length == 64 or byte == ord("\n"):
            found |= {(one + other * 0x61 & _WORD) % 107_927} if length == 64 else set()
            one = other = length = 0
    return found


def test_git_takes_no_decision_for_another_also_where_it_mistakes_a_line(tmp_path):
    def made(number):
        when, text = "2026-02-17T13:30:00.000000Z", f"decision {number}"
        return Decision.of(id=ids.derived(1_700_000_000_000, "one"), who="ada", when=when, text=text, why="because")

    first = made(0)
    known = _lines_as_git_knows_them(first.data)
    other = next(one for one in map(made, count(1)) if known & _lines_as_git_knows_them(one.data))
    clone = repository(tmp_path / "clone")
    for before, now in ((None, first), (first, other)):
        if before:
            (clone / before.file_name).unlink()
        (clone / now.file_name).write_bytes(now.data)
        git(clone, "add", "-A")
        git(clone, "commit", "--quiet", "-m", "decisions")

    assert "rename" not in git(clone, "show", "--summary", "--find-renames", "--format=")


def test_two_clones_and_many_edits_never_conflict(tmp_path, origin, ada, bob):
    chance = random.Random(seed())
    events = [ids.new(1_700_000_000_000 + n) for n in range(12)]
    for _ in range(rounds(fixed=3, fuzz=100)):
        for person in (ada, bob):
            folder = person.clone / PLACE
            folder.mkdir(parents=True, exist_ok=True)
            for _ in range(50):
                there = sorted(folder.iterdir())
                if there and chance.random() < 0.5:
                    chance.choice(there).unlink()
                    continue
                when, who = "2026-02-17T13:30:00.000000Z", chance.choice(["ada", "bob"])
                text, why = f"decision {chance.randrange(3)}", chance.choice(["", "because", "so"])
                made = Decision.of(id=chance.choice(events), who=who, when=when, text=text, why=why)
                (folder / made.file_name).write_bytes(made.data)
            person.push()  # git would refuse a conflict
        for person in (ada, bob):
            person.pull()

    assert sorted(path.name for path in (ada.clone / PLACE).iterdir()) == sorted(
        path.name for path in (bob.clone / PLACE).iterdir()
    )


def test_outside_of_a_repository_the_directory_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert f"eventlog: {tmp_path}: is in no git repository" in call("team", "--store", tmp_path / "store").err
