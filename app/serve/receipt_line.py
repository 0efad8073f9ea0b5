"""The receipt of a context, as it is appended; nothing but the standard library, as a session waits to begin."""

from eventlog.fast.sha import sha256
from eventlog.hosts.call import present
from eventlog.store.append_once import SAME_CALL_MS, append_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from eventlog.format.payloads import ContextInjected, Envelope
    from eventlog.store import Store


def append_receipt_line(
    store: "Store", about: "Envelope", receipt: "ContextInjected", text: str, source: str, *, sync: bool | None = None
) -> bool:
    """Append that a session was given a text; False where the log has that already. Raises NotStored.

    The receipt may be that of another session that was given the same, but for how it saves.
    """
    event: ContextInjected = {**receipt, "digest": sha256(text.encode("utf-8", "replace")), "chars": len(text)}
    key = f"context\n{about['conversation_id']}\n{source}\n{event['digest']}"
    return append_once(store, {**present(about), **event}, key, within_ms=SAME_CALL_MS, sync=sync)
