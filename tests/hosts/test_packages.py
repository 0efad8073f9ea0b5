"""Hosts of other packages: found by an entry point, without our tree; a broken room costs nobody else anything."""

import importlib
import json
import sys

import pytest

from eventlog import hosts
from eventlog.hosts import packages
from eventlog.hosts.profile import profiles
from tests.support.command_line import call
from tests.support.hook_calls import tell

PROTOCOL = """
from eventlog.fast import fastjson
from eventlog.hosts.call import HookCall, HostProtocol, text


class HeronProtocol(HostProtocol):
    silent = b"{}"
    prompt = "asked"

    def read(self, payload, name):
        session, key = text(payload, "session"), text(payload, "call")
        made = HookCall(self.agent, name, payload, session=session, dedupe_key=key)
        return made.as_session_start(source="startup", dedupe_key=key) if name == "begin" else made

    def start(self, context, event=""):
        return fastjson.dumps({"add": context})

    def ask(self, request):
        return fastjson.dumps({"go_on": request})

    flush = ask


PROTOCOL = HeronProtocol("heron")
"""
PROFILE = """
from eventlog.hosts.profile import SECONDS, HookFile, HostProfile, RuleFile

PROFILE = HostProfile(
    agent="heron", name="Heron", home=".heron", rules=RuleFile(project_file="HERON.md"),
    hooks=HookFile("hooks.json", ".heron/hooks.json", "flat", ("begin",), {"command": "", "timeout": SECONDS}),
)
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A directory of packages on the path, where nothing was looked for yet."""
    place = tmp_path / "site"
    monkeypatch.setattr(packages, "_rooms", [])
    monkeypatch.setattr(packages, "broken", {})
    monkeypatch.setattr(hosts, "_protocols", {})
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    _forget_modules()  # those of the page on adding a host have the same names
    yield place
    _forget_modules()


def _forget_modules():
    for name in [name for name in sys.modules if name.partition(".")[0] == "eventlog_heron"]:
        del sys.modules[name]


def install(site, protocol=PROTOCOL, table="[console_scripts]\nx = y:z\n\n[eventlog.hosts]\nheron = eventlog_heron\n"):
    for name, text in (("__init__", ""), ("protocol", protocol), ("profile", PROFILE)):
        (site / "eventlog_heron").mkdir(exist_ok=True)
        (site / "eventlog_heron" / f"{name}.py").write_text(text)
    (site / "eventlog_heron-1.0.dist-info").mkdir()
    (site / "eventlog_heron-1.0.dist-info" / "entry_points.txt").write_text(table)
    importlib.invalidate_caches()  # the directory may have been read a moment ago


def test_it_reads_its_payloads_and_answers_in_its_dialect(site, tmp_path):
    install(site)
    payload = {"session": "h-1", "call": "1", "hook_event_name": "begin", "timestamp": "looks like another host's"}
    answer = tell(tmp_path / "store", payload, "--agent", "heron")
    [event, *_] = map(json.loads, call("query", "--format", "jsonl", "--store", tmp_path / "store").out.splitlines())

    assert "add" in json.loads(answer)
    assert (event["type"], event["agent"], event["conversation_id"]) == ("session_start", "heron", "h-1")
    assert (tmp_path / "store/cache/heard/heron").exists()
    assert hosts.protocol("heron").prompt == "asked"


def test_it_is_installed_and_uninstalled_by_its_name(site):
    install(site)

    assert profiles()["heron"].name == "Heron"
    assert [*profiles()][: len(hosts.ROOMS)] == [*hosts.ROOMS.values()]


def test_a_broken_room_is_named_and_its_events_are_recorded(site, tmp_path):
    install(site, protocol="raise RuntimeError('no luck')")
    answer = tell(tmp_path / "store", {"session_id": "h-1", "hook_event_name": "begin"}, "--agent", "heron")
    [event] = map(json.loads, call("query", "--format", "jsonl", "--store", tmp_path / "store").out.splitlines())
    report = json.loads(call("doctor", "--json", "--store", tmp_path / "store").out)

    assert answer == b""
    assert (event["agent"], event["conversation_id"]) == ("heron", "h-1")
    assert any("RuntimeError: no luck" in problem["what"] for problem in report["problems"])


@pytest.mark.parametrize(
    "line",
    ["claude-code = eventlog_heron", "claude = eventlog_heron", "../x = eventlog_heron", "= eventlog_heron", "heron ="],
)
def test_no_package_takes_the_name_of_our_hosts_or_of_a_file(site, line):
    install(site, table=f"[eventlog.hosts]\n{line}\n")

    assert hosts.rooms() == hosts.ROOMS


def test_what_is_no_table_names_no_host(site):
    install(site, table="[eventlog.projections]\nheron = eventlog_heron\n")
    (site / "other.dist-info").write_text("a file")
    (site / "more.egg-info").mkdir()

    assert hosts.rooms() == hosts.ROOMS


def test_hooks_of_our_own_hosts_look_for_no_packages(monkeypatch):
    monkeypatch.setattr(packages, "other_rooms", lambda: pytest.fail("looked"))

    for agent in (*hosts.ROOMS, "cli", "human", "", None):
        hosts.protocol(agent)
    assert hosts.agent_of({"hook_event_name": "Stop"}, "claude-code") == "claude-code"
