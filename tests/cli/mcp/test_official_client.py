"""The official client speaks with the server as hosts start it, in both eras of the protocol."""

import asyncio
import sys
from pathlib import Path

import pytest

import eventlog
from eventlog.cli.mcp.tools import INSTRUCTIONS, TOOLS

pytestmark = pytest.mark.slow

START = str(Path(eventlog.__file__).parent / "cli" / "mcp" / "start.py")


async def _visit(mcp, store, mode):
    """Connect, use every tool, and leave; what was seen."""
    command = mcp.StdioServerParameters(command=sys.executable, args=["-I", "-S", START, "--store", str(store)])
    async with mcp.Client(command, mode=mode, read_timeout_seconds=120) as client:
        listed = await client.list_tools()
        saved = await client.call_tool("remember", {"content": f"Prices are in cents, says {mode}"})
        recalled = await client.call_tool("recall", {"query": "prices cents"})
        told = await client.call_tool("why", {"ref": mode})
        withdrawn = await client.call_tool("forget", {"ref": mode})
        failed = await client.call_tool("remember", {"content": ""})
        answers = [answer.content[0].text for answer in (saved, recalled, told, withdrawn, failed)]
        return (
            client.protocol_version,
            client.instructions,
            [tool.name for tool in listed.tools],
            answers,
            failed.is_error,
        )


def test_the_official_client_uses_every_tool_in_both_eras(tmp_path, monkeypatch):
    mcp = pytest.importorskip("mcp", reason="the official client is not installed: it is of the dev extra")
    monkeypatch.chdir(tmp_path)
    visits = {mode: asyncio.run(_visit(mcp, tmp_path / "store", mode)) for mode in ("auto", "legacy")}

    assert ["2026-07-28", "2025-11-25"] == [visit[0] for visit in visits.values()]
    for mode, (_, instructions, names, (saved, recalled, told, withdrawn, failed), is_error) in visits.items():
        assert (INSTRUCTIONS, [tool["name"] for tool in TOOLS]) == (instructions, names)
        assert saved.startswith("Saved: ")
        assert f"Prices are in cents, says {mode}" in recalled
        assert f"Prices are in cents, says {mode}" in told
        assert withdrawn.startswith("Retracted")
        assert (True, "missing argument: content, a text") == (is_error, failed)
