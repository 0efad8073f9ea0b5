"""`FILE:LINE` is taken apart in one way by every verb."""

import pytest

from eventlog.app.naming.names import file_line, is_file_line


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
    ],
)
def test_a_file_and_a_line_are_told_apart(said, file, line):
    assert (file, line) == tuple(file_line(said))
    assert is_file_line(said) == (line is not None)
