"""The server's own command line, without click: hosts start it with every session."""

import os

from eventlog import hosts
from eventlog.cli.mcp.server import run
from eventlog.cli.mcp.toolcalls import ToolCalls
from eventlog.cli.quick import version
from eventlog.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIONS = {"--store", "--agent", "--session-type"}


def main(argv: "Sequence[str]") -> bool:
    """Serve until the client goes away; False where the options are not understood, and nothing was done."""
    asked = dict(zip(argv[::2], argv[1::2], strict=False))
    listens = asked.get("--session-type", "main")
    if len(asked) * 2 != len(argv) or not asked.keys() <= _OPTIONS or listens not in ("main", "shared"):
        return False
    serve(Store.locate(asked.get("--store"), os.environ), asked.get("--agent", ""), shared=listens == "shared")
    return True


def serve(store: Store, agent: str, *, shared: bool) -> None:
    """Serve the client at the standard streams; `agent` by either of its names."""
    run(ToolCalls(store, hosts.agent_name(agent), shared=shared), version() or "unknown")
