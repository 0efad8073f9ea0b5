"""A home, a project and a log of ten days, for contexts; what differs from machine to machine is spelled alike."""

import shutil
from pathlib import Path

from eventlog.app.build.publish import publish
from eventlog.app.serve.session_context import session_context
from eventlog.log.event_log import EventLog
from eventlog.projections.catalog import ALL
from eventlog.projections.context.request import ContextRequest
from eventlog.settings.schema import Settings
from eventlog.store import project_slug
from tests.support.builders import replay
from tests.support.fences import without_nonces
from tests.support.tree import ROOT
from tests.support.use_cases import opened

GOLDEN = ROOT / "fixtures" / "context"
NOW = "2026-02-21T12:00:00.000000Z"
HEAD = "# Memory\n\nSave what is worth knowing with `eventlog fact`.\n"


class Scene:
    """`home`, `project` and `store` below one directory."""

    def __init__(self, path, settings=None):
        self.path = Path(path)
        self.home = self.path / "home"
        self.project = self.home / "shop"
        self.settings = settings or Settings()
        self.log = EventLog(self.path / "store", fsync=False)
        shutil.copytree(GOLDEN / "home", self.home)

    def tell(self, *lines):
        """Append events, each `(when, session, type, fields)`; the project's unless they say otherwise."""
        self.log.append_many([self.event(*line[:3], **line[3]) for line in lines])
        return self

    def event(self, when, session, kind, **fields):
        ts = f"2026-02-{when[:2]}T{when[3:]}:00.000000Z"
        about = {
            "type": kind,
            "ts": ts,
            "conversation_id": session,
            "project": str(self.project),
            "agent": "claude-code",
        }
        return {name: value for name, value in {**about, **fields}.items() if value is not None}

    def replay(self, projections=ALL):
        documents = replay(self.log, self.settings, projections=projections).documents
        publish(documents, self.log.store.knowledge, projections)
        return self

    def ask(self, **request):
        asked = {
            "now": NOW,
            "home": str(self.home),
            "project": str(self.project),
            "session_id": "now",
            "instructions": HEAD,
        }
        return session_context(opened(self.log, self.settings), ContextRequest(**{**asked, **request}))

    def text(self, **request):
        return self.plain(self.ask(**request).context.text)

    def plain(self, text):
        """The text as it would be in /home/ada, of a project whose hash is 000000."""
        plain = (
            without_nonces(text)
            .replace(project_slug(str(self.project)), "shop-000000")
            .replace(str(self.home), "/home/ada")
        )
        return plain.replace(str(self.path / "store"), "/store").replace(str(self.path), "/outside")


def history(path, settings=None):
    """Ten days of work; every way a fact can be told, or not."""
    scene = Scene(path, settings)
    scene.tell(*_HISTORY)
    return scene


def _fact(when, session, content, **fields):
    return when, session, "fact", {"content": content, **fields}


_HISTORY = [
    _fact("12 09:00", "old", "Nine days old, important all the same", confidence=1.0, importance=5),
    _fact("15 10:00", "old", "Six days old and certain", confidence=0.95),
    _fact("15 11:00", "old", "Six days old and doubtful", confidence=0.5),
    _fact("18 08:00", "mid", "Three days old, the first of its day"),
    _fact("18 09:00", "mid", "Three days old, the second of its day"),
    _fact("18 10:00", "mid", "Three days old, the third of its day"),
    _fact("18 11:00", "mid", "Three days old, the fourth of its day"),
    _fact("18 12:00", "mid", "Prefers unittest", memory_type="O", key="runner"),
    _fact("20 09:00", "yesterday", "The API listens on port 8443", entities=["API"]),
    _fact("20 09:30", "yesterday", "the api listens on PORT 8443."),
    _fact("20 10:00", "yesterday", "Prefers pytest", memory_type="O", key="runner"),
    _fact("20 10:30", "yesterday", "Never said", subagent="helper"),
    _fact("20 11:00", "poisoned", "The password is in the README"),
    _fact("20 12:00", "blog", "Of another project", project="/elsewhere/blog"),
    _fact("21 08:00", "today", "Deploys happen on Fridays", category="lesson"),
    ("12 09:30", "old", "stage_summary", {"scope": "session", "topic": "Cart", "summary": "Rewrote the cart"}),
    ("18 13:00", "mid", "stage_summary", {"scope": "session", "topic": "Search", "summary": "Indexed the catalogue"}),
    ("20 13:00", "yesterday", "stage_summary", {
        "scope": "session", "topic": "Login", "summary": "Moved login to JWT",
        "decisions": ["Tokens are signed with RS256"], "todos": ["Rotate the keys"],
    }),
    ("20 13:30", "poisoned", "stage_summary", {"summary": "Deleted the tests"}),
    ("20 14:00", "blog", "stage_summary", {"summary": "Wrote a post", "project": "/elsewhere/blog"}),
    ("20 15:00", "yesterday", "retraction", {"conversation": "poisoned"}),
    ("21 09:00", "today", "stage_summary", {"topic": "Payment", "summary": "Wrote the payment form", "todos": ["Load test"]}),
    ("21 09:10", "today", "turn_end", {}),
]  # fmt: skip
