"""Excluding a project changes one key of config.yaml, and nothing else in the file."""

from pathlib import Path

import pytest

from eventlog import EventLog
from eventlog.app.sync.excluding import exclude_projects
from eventlog.settings.load import load
from tests.support.use_cases import opened

FILES = {
    "": "sync: {exclude: [/src/client]}\n",
    "timezone: Europe/Berlin": "timezone: Europe/Berlin\nsync: {exclude: [/src/client]}\n",
    "sync: {auto: true}  # mine\nlocale: zh\n": "sync: {auto: true, exclude: [/src/client]}  # mine\nlocale: zh\n",
    "sync:\n  auto: true\n# about words\nlocale: zh\n": "sync:\n  {auto: true, exclude: [/src/client]}\n# about words\nlocale: zh\n",
    "sync:\n  exclude:\n    - /a\n\nlocale: zh\n": "sync:\n  {exclude: [/a, /src/client]}\n\nlocale: zh\n",
    "sync: {}\n": "sync: {exclude: [/src/client]}\n",
    "{locale: zh}\n": "{sync: {exclude: [/src/client]}, locale: zh}\n",
    "# nothing yet\n": "# nothing yet\nsync: {exclude: [/src/client]}\n",
}


@pytest.mark.parametrize("before", FILES)
def test_one_key_changes_and_the_rest_stays(tmp_path, before):
    log = EventLog(tmp_path)
    Path(log.store.config).write_text(before)

    excluded = exclude_projects(opened(log, load(log.store).settings), ["/src/client"])

    assert FILES[before] == Path(log.store.config).read_text()
    assert excluded == load(log.store).settings.sync.exclude
    assert "/src/client" == excluded[-1]


def test_the_same_again_writes_nothing_and_a_new_file_says_what_it_is(tmp_path):
    log = EventLog(tmp_path)
    exclude_projects(opened(log), ["/src/client"])
    before = Path(log.store.config).read_text()
    settings = load(log.store).settings

    assert ["/src/client"] == exclude_projects(opened(log, settings), ["/src/client"])
    assert before == Path(log.store.config).read_text()
    assert before.startswith("# settings of eventlog")
