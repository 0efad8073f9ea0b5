"""A log with knowledge bases: plan, apply, and look at the files."""

from pathlib import Path

from eventlog.app.write.plan import plan
from eventlog.projections.views.knowledge import KNOWLEDGE
from eventlog.settings.schema import KnowledgeBase, Settings
from tests.support.builders import replay
from tests.support.use_cases import apply

SETTINGS = Settings()
REVIEWED = Settings(knowledge_bases={"user": KnowledgeBase(path="~/.config/agents/USER.md", review=True)})
LAST_WORD = Settings(knowledge_bases={"user": KnowledgeBase(path="~/.config/agents/USER.md", on_people_text="replace")})


def user_md():
    return Path.home() / ".config" / "agents" / "USER.md"


def write_user(text):
    user_md().parent.mkdir(parents=True, exist_ok=True)
    user_md().write_bytes(text if isinstance(text, bytes) else text.encode())


def planned(log, heading="S", content="new", *, session="s", **entry):
    """One plan entry for USER.md, stored."""
    [event] = plan(log, {"path": "user", "heading": heading, "content": content, **entry}, session=session)
    return event


def rendered(log, settings=SETTINGS, name="bases/user.md"):
    """What `replay --out` writes, without the line that certifies it."""
    documents = replay(log, settings, projections=[KNOWLEDGE]).documents
    texts = {one.path: "".join(f"{line.text}\n" for line in one.lines[:-2]) for one in documents}
    return texts.get(name, "")


def apply_all(log, settings=SETTINGS):
    """Apply until nothing is left to do; what the last run reports must be nothing but what waits."""
    first = apply(log, settings)
    again = apply(log, settings)
    assert (0, [], [], []) == (again.stored, again.applied, again.edited, again.files)
    return first


def types(log):
    return [event.type for event in log.read()]


def edits(log):
    return [event for event in log.read() if event.type == "knowledge_edited"]
