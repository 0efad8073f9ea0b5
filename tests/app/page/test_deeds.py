"""What is decided on the page is decided as by the verb of that name."""

from pathlib import Path

import pytest

from eventlog.app.page.deeds import DEEDS
from eventlog.app.page.page_model import page_of
from eventlog.format.errors import BadRequest
from tests.support.builders import fact
from tests.support.repositories import git, repository
from tests.support.use_cases import opened


def said(store):
    page = page_of(store)
    day = len(page.days)
    return "\n".join(line.text_at(day) for file in page.files if file.path == "MEMORY.md" for line in file.at(day))


def test_forget_and_undo_are_events(log):
    event = log.append(fact(1, content="Tea at five"))
    store = opened(log)
    [rejected] = DEEDS["forget"](store, {"target": event.id})[0]

    assert rejected.type == "rejected"
    assert "Tea at five" not in said(store)

    [restored] = DEEDS["undo"](store, {"target": rejected.id})[0]

    assert restored.type == "restored"
    assert "Tea at five" in said(store)


def test_other_words_take_the_place_of_the_old(log):
    event = log.append(fact(1, content="Tea at five"))
    store = opened(log)
    DEEDS["edit"](store, {"target": event.id, "content": "Tea at six"})

    assert "Tea at six" in said(store)
    assert "Tea at five" not in said(store)


@pytest.mark.slow
def test_share_writes_a_file_into_the_checkout_of_the_decisions_project(log, tmp_path, monkeypatch):
    checkout = repository(tmp_path / "shop")
    git(checkout, "config", "user.name", "Ada")
    monkeypatch.chdir("/")
    event = log.append(fact(1, content="Prices are integers in cents", project=str(checkout)))
    events, files = DEEDS["share"](opened(log), {"target": event.id, "content": "Floats lost a cent"})
    [path] = files

    assert [shared.id for shared in events] == [event.id]
    assert Path(path).parent == checkout / ".eventlog" / "team"
    assert "Prices are integers in cents\n\n## Why\n\nFloats lost a cent\n" in Path(path).read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "request_"),
    [
        ("forget", {}),
        ("edit", {"target": "nobody said this", "content": "x"}),
        ("resolve", {"target": "x"}),
        ("resolve", {"target": "x", "choice": "burn"}),
        ("forget", {"target": "nobody said this"}),
        ("share", {}),
        ("share", {"target": "last"}),  # in no repository
    ],
)
def test_a_wrong_request_changes_nothing(log, deed, request_):
    log.append(fact(1))

    with pytest.raises(BadRequest):
        DEEDS[deed](opened(log), request_)

    assert len(list(log.read())) == 1
