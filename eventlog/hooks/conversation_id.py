"""The conversation's id where the host's payload gives none: from the host's own session store, else one of ours.

A host goes on writing the file of a conversation it resumes, and starts a new file for a new one: the newest file
of the project is the one at work, also after a resume or a rewind. Rarely needed, so rarely loaded.
"""

import time

from eventlog import hosts
from eventlog.fast import fastjson, os
from eventlog.format import ids
from eventlog.hosts.call import HookCall
from eventlog.store import Store
from eventlog.store.files import read_regular, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_UUID = 36  # characters


def conversation_id(store: Store, call: HookCall, environ: "Mapping[str, str]") -> str:
    """The id of the conversation at work where the moment happened; raises NotStored or OSError."""
    if named := _id_in(call.transcript):
        return named
    newest = hosts.newest_transcript(call.agent, call.where, environ)
    return _id_in(newest) or _kept(store, call)


def _id_in(transcript: str) -> str:
    """The name of the file, "" where it has none; of a Codex rollout the thread id it ends with, as in its payloads."""
    name = os.path.basename(transcript.replace("\\", "/")).removesuffix(".jsonl").strip()
    return name[-_UUID:] if name.startswith("rollout-") and len(name) > _UUID else name


def _kept(store: Store, call: HookCall) -> str:
    """One of ours: new with each start that is no return, kept until then."""
    path = store.cached("conversations", f"{ids.digest(f'{call.agent} {call.project}', 8).hex()}.json")
    returns = call.type != "session_start" or call.fields.get("source") in ("resume", "compact")
    if returns and (known := _read(path)):
        return known
    fresh = ids.new(time.time_ns() // 1_000_000)
    replace_file(path, fastjson.dumps({"conversation_id": fresh}), durable=False)
    return fresh


def _read(path: str) -> str:
    try:
        return str(fastjson.object_in(read_regular(path)).get("conversation_id", "")).strip()
    except OSError:
        return ""
