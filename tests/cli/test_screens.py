"""Every screen as a person sees it, at 80 and 120 columns, in English and Chinese, and as a program gets it in a pipe.

The screens lie in `screens/`; EVENTLOG_SCREENS=write writes them anew, for whoever has changed one on purpose to read.
"""

import os
import re
from pathlib import Path

import click
import pytest

from eventlog.cli.terminal import cells
from eventlog.cli.verbs import VERBS
from eventlog.cli.verbs.setup import doctor
from eventlog.hooks import prompts
from tests.support.agreed_screens import CHINESE, SCREENS
from tests.support.fences import without_nonces
from tests.support.scene import Scene
from tests.support.screen import emulated, foreign_styles, illegible, seen, text_on

KEPT = Path(__file__).parent / "screens"
_DIGEST = re.compile(r"(?<=head )[0-9a-f]{64}")  # of a chain that names this store
_GIVEN = re.compile(r"\b[12],\d{3}(?= characters)")  # paths are among them
REWRITES = os.environ.get("EVENTLOG_SCREENS") == "write"
UNBROKEN = {
    "query-markdown",
    "export",
    "context-session",
    "plugin",
}  # pages for a file, and commands: whole, to be copied


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        yield Scene(tmp_path_factory.mktemp("scene"), patch)


@pytest.fixture(autouse=True)
def _home(scene, monkeypatch):
    """The home is the scene's, not the one that every other test has of its own; the program lies where it is kept.

    Its version is that of no release, so that a release changes no screen.
    """
    monkeypatch.setattr(prompts, "program", lambda: "/opt/eventlog/bin/eventlog")
    monkeypatch.setattr(doctor, "__version__", "0.2.0.dev0")
    monkeypatch.setenv("HOME", str(scene.home))
    monkeypatch.delenv("EVENTLOG_HOME")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS | CHINESE)
def test_a_screen_is_as_it_was_agreed(scene, name):
    for columns in (80, 120):
        said = scene.told((SCREENS | CHINESE)[name], columns)

        screen = emulated(said, columns)

        assert not foreign_styles(said)
        assert not illegible(screen)
        _compare(f"{name}-{columns}.txt", text_on(screen), scene)
        lines = click.unstyle(said).replace(str(scene.home), "~").splitlines()
        assert name in UNBROKEN or columns >= max(map(cells, lines), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["brief", "doctor", "status", "why-line", "diff", "show-session", "zh-memory"])
def test_nothing_is_told_by_a_colour_alone(scene, name):
    asked = (SCREENS | CHINESE)[name]
    coloured, plain = scene.told(asked, 80), scene.told(asked, 80, colours=False)

    assert "\x1b" not in plain
    assert "\x1b" in coloured
    assert seen(coloured) == seen(plain)


@pytest.mark.parametrize("colour", [30, 90, 97, 44])
def test_a_colour_that_is_lost_on_a_dark_or_a_light_terminal_is_noticed(colour):
    assert illegible(emulated(f"\x1b[{colour}mx\x1b[0m"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCREENS)
def test_a_pipe_gets_no_colours_and_whole_values(scene, name):
    said = scene.piped(SCREENS[name])

    assert "\x1b" not in said
    _compare(f"{name}-piped.txt", said, scene)


def test_every_verb_has_a_screen():
    assert {screen.asked[0] for screen in SCREENS.values() if screen.asked} >= VERBS.keys()


def test_every_screen_that_is_kept_is_one_that_is_shown():
    shown = {f"{name}-{columns}.txt" for name in SCREENS | CHINESE for columns in (80, 120)}

    assert shown | {f"{name}-piped.txt" for name in SCREENS} == {path.name for path in KEPT.iterdir()}


def _compare(name, said, scene):
    said = _DIGEST.sub("0" * 64, without_nonces(said).replace(str(scene.home), "~"))
    said = _GIVEN.sub("1,800", said)
    if REWRITES:
        KEPT.mkdir(exist_ok=True)
        (KEPT / name).write_text(said, encoding="utf-8")
    assert (KEPT / name).read_text(encoding="utf-8") == said
