"""Where the code under test lies: in the source tree beside these tests, or installed with the sources out of the way."""

from pathlib import Path

import pytest

import eventlog

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(eventlog.__file__).resolve().parent
IMPORT_PATH = str(PACKAGE.parent)  # of a process that has to import the code under test without being installed


def needs_tree() -> None:
    """Skip the test, or the module, that calls this where the sources are not beside the tests."""
    if not (ROOT / "eventlog").is_dir():
        pytest.skip("needs the source tree", allow_module_level=True)
