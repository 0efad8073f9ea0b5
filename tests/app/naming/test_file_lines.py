"""`FILE:LINE` is taken apart in one way by every verb."""

import pytest

from eventlog import Memory
from eventlog.app.naming.names import file_line, is_file_line
from tests.support.command_line import call


@pytest.mark.parametrize(
    ("said", "file", "line"),
    [
        ("MEMORY.md:7", "MEMORY.md", 7),
        ("MEMORY.md", "MEMORY.md", None),
        ("C:\\notes\\MEMORY.md:7", "C:\\notes\\MEMORY.md", 7),
        ("a:7:8", "a:7", 8),
        (":7", ":7", None),
        ("a:", "a:", None),
        ("a:-1", "a:-1", None),
        ("a\nb:1", "a\nb", 1),
        ("", "", None),
        (f"a:{'9' * 5000}", f"a:{'9' * 5000}", None),
    ],
)
def test_a_file_and_a_line_are_told_apart(said, file, line):
    assert (file, line) == tuple(file_line(said))
    assert is_file_line(said) == (line is not None)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["why", "forget --yes", "edit --yes --content Gone", "redact --yes"])
@pytest.mark.parametrize("text", ["The proxy listens on 127.0.0.1:8080", "Herons nest. " * 40 + "Otters: 7", "a/b c:1"])
def test_a_text_that_ends_with_a_number_is_no_line_of_a_file(tmp_path, verb, text):
    memory = Memory(tmp_path)
    memory.log.append({"type": "fact", "conversation_id": "c", "content": f"{text}", "scope": "user"})
    memory.replay()
    done = call("--store", tmp_path, *verb.split(), text)

    assert (0, "") == (done.code, done.err)
    assert (verb == "why") == any(text[:20] in file.read_text() for file in tmp_path.rglob("MEMORY.md"))


@pytest.mark.parametrize("verb", ["why", "forget --yes", "edit --yes --content Gone", "redact --yes"])
def test_a_file_that_is_not_there_is_no_text(tmp_path, verb):
    Memory(tmp_path).log.append({"type": "fact", "conversation_id": "c", "content": "MEMROY.md:1", "scope": "user"})

    assert "no such file" in call("--store", tmp_path, *verb.split(), "MEMROY.md:1").err


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb",
    ["why {}:5", "show {}", "show {} --as-of today", "diff {} --from 2d", "bisect {} Otters", "forget {}:5 --yes"],
)
def test_a_memory_is_the_same_behind_a_dot(tmp_path, home, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENTLOG_HOME", str(tmp_path / "store"))
    (tmp_path / ".git").mkdir()
    call("fact", "Otters nest")
    call("replay")

    assert (0, "") == call(*verb.format("./MEMORY.md").split())[::2]
