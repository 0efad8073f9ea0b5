"""Files of a team's decisions: one shape, one name per content; whatever else lies there is refused, never used."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog.app.team.decisions import PLACE, Decision, read_files
from tests.support.credentials import SAMPLES
from tests.support.strategies import text as texts

ID = "01a1f8ad-9f50-7da1-b179-170a4d899d3c"
WHEN = "2026-02-17T13:30:00.000000Z"
NOW = "2026-02-20T12:00:00.000000Z"
FIELDS = {"id": ID, "who": "Ada", "when": WHEN, "text": "Prices are integers in cents", "why": "Floats lost a cent"}
FILE = f"---\nid: {ID}\nwho: Ada\nwhen: {WHEN}\nkind: decision\n---\n\nPrices are integers in cents\n"


def put(root, name, data):
    path = root / PLACE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_a_decision_is_a_front_matter_a_text_and_a_reason():
    made = Decision.of(**FIELDS)

    assert FILE + "\n## Why\n\nFloats lost a cent\n" == made.data.decode().partition("\n<!--")[0]
    assert made == Decision.read(made.data, made.file_name, NOW)


@given(st.fixed_dictionaries({"text": texts, "why": texts, "who": texts, "key": texts}))
def test_whatever_is_shared_is_read_back_and_one_name_has_one_content(fields):
    try:
        made = Decision.of(**{**FIELDS, **fields})
    except ValueError:  # what no reader would take is never written
        return
    again = Decision.read(made.data, made.file_name, NOW)

    assert made == again
    assert (made.file_name, made.data) == (again.file_name, again.data)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["Ada", "Bob"]), texts, texts), min_size=2, max_size=4))
def test_two_clones_never_write_two_contents_under_one_name(made):
    by_name: dict[str, bytes] = {}
    for who, text, why in made:
        try:
            decision = Decision.of(**{**FIELDS, "who": who, "text": text, "why": why})
        except ValueError:
            continue
        assert decision.data == by_name.setdefault(decision.file_name, decision.data)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_no_secret_reaches_a_file(name):
    text, secret = SAMPLES[name]
    planted = text.format(secret) if text else secret[0]
    left = secret if text else secret[1]
    for field in ("text", "why", "who"):
        try:
            made = Decision.of(**{**FIELDS, field: f"use {planted}"})
        except ValueError:
            continue
        assert left not in made.data.decode()


HOSTILE = {
    "empty": (b"", "does not begin with a front matter"),
    "not text": (b"\xff\xfe", "is not UTF-8"),
    "no front matter": (b"Prices are integers\n", "does not begin with a front matter"),
    "a front matter without an end": (b"---\n" + b"a: b\n" * 10_000, "at most 20 lines"),
    "a bomb of YAML": (b"---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\nx\n", "has no field 'id'"),
    "a field twice": (FILE.replace("who: Ada", "who: Ada\nwho: Eve").encode(), "has two fields 'who'"),
    "an id of another shape": (FILE.replace(ID, "../../etc/passwd").encode(), "has an id that is no event's"),
    "another's id": (FILE.replace("01a1", "01a2").encode(), "is not named after its id"),
    "no text": (FILE.rpartition("\nPrices")[0].encode(), "says nothing"),
    "a text without an end": ((FILE + "x" * 5000).encode(), "more than 4,000 characters"),
    "a name without an end": (FILE.replace("Ada", "A" * 500).encode(), "has a field 'who'"),
    "two sides of a merge": (f"{FILE}<<<<<<< HEAD\nA\n=======\nB\n>>>>>>> x\n".encode(), "both sides of a merge"),
    "a time that is none": (FILE.replace(WHEN, "soon").encode(), "has a time that is none"),
    "a time to come": (FILE.replace("2026", "2036").encode(), "is of a time to come"),
    "a huge file": (b"---\n" + b"x" * (1 << 20), "is longer than 65,536 bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_of_another_shape_is_refused_with_the_reason(tmp_path, name):
    data, reason = HOSTILE[name]
    put(tmp_path, f"{ID}-0.md", data)
    (found,) = read_files(str(tmp_path), NOW)

    assert found.decision is None
    assert reason in found.refused


def test_control_characters_and_lines_of_a_field_do_not_reach_anyone(tmp_path):
    put(
        tmp_path,
        f"{ID}.md",
        FILE.replace("Ada", "Ada\x1b[31m\u202e").replace("cents", "cents\x1b]0;x\x07\n# Ignore all"),
    )
    (found,) = read_files(str(tmp_path), NOW)

    assert found.decision
    assert "Ada" == found.decision.who.replace("[31m", "").strip()
    assert not any(ord(char) < 32 for char in found.decision.text + found.decision.who)


def test_a_checkout_by_another_system_reads_the_same(tmp_path):
    put(tmp_path, f"{ID}.md", FILE.replace("\n", "\r\n"))

    assert ["Prices are integers in cents"] == [
        file.decision.text for file in read_files(str(tmp_path), NOW) if file.decision
    ]


def test_links_directories_and_pipes_are_refused_and_never_opened(tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text(FILE)
    root = tmp_path / "repository"
    put(root, "README.md", "how we decide")
    put(root, "notes.txt", "not ours")
    folder = root / PLACE
    (folder / f"{ID}-1.md").symlink_to(secret)
    (folder / f"{ID}-2.md").symlink_to(folder / f"{ID}-2.md")
    (folder / f"{ID}-3.md").mkdir()
    os.mkfifo(folder / f"{ID}-4.md")
    found = read_files(str(root), NOW)

    assert [None] * 4 == [file.decision for file in found]
    assert ["is a symbolic link"] * 2 == [file.refused for file in found[:2]]
    assert all(file.refused for file in found)


def test_a_directory_that_leads_out_of_the_repository_is_refused(tmp_path):
    put(tmp_path / "elsewhere", f"{ID}.md", FILE)
    root = tmp_path / "repository"
    (root / ".eventlog").mkdir(parents=True)
    (root / PLACE).symlink_to(tmp_path / "elsewhere" / PLACE)
    (found,) = read_files(str(root), NOW)

    assert found.decision is None
    assert "leads out of" in found.refused
