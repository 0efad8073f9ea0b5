"""The shape of the settings: defaults, and what is refused whoever builds them."""

import msgspec
import pytest

from eventlog.settings.cached import DEFAULTS, plain_settings
from eventlog.settings.schema import KnowledgeBase, Settings


def test_the_defaults_are_those_of_the_documentation():
    settings = Settings()

    assert ("UTC", "en", "always") == (settings.timezone, settings.locale, settings.fsync)
    assert ["user", "soul", "global-agents", "project"] == list(settings.knowledge_bases)
    assert ["soul"] == [name for name, base in settings.knowledge_bases.items() if base.review]
    assert (9000, 15, "once", 3) == (
        settings.context.budget_chars, settings.context.facts, settings.save.stop_fallback, settings.save.min_turns,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "", "/etc/localtime"])
def test_a_time_zone_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match="there is no time zone"):
        Settings(timezone=name)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"path": "~/x", "url": "https://x"},
        {"path": "x.md"},
        {"path": "~/../x"},
        {"path": "~/x/"},
        {"url": "ftp://x"},
    ],
)
def test_a_knowledge_base_names_one_file_and_says_where_it_starts(fields):
    with pytest.raises(ValueError):
        KnowledgeBase(**fields)


def test_a_bootstrap_may_only_name_bases_there_are():
    with pytest.raises(ValueError, match="no knowledge base 'nope'"):
        Settings(session_bootstrap=["nope"])


def test_the_default_bootstrap_leaves_out_bases_that_were_taken_away():
    settings = Settings(knowledge_bases={"user": KnowledgeBase(path="~/U.md")})

    assert ["user"] == settings.bootstrap


def test_settings_survive_being_written_and_read():
    assert Settings() == msgspec.convert(msgspec.to_builtins(Settings()), Settings)


def test_what_a_session_start_takes_for_the_defaults_are_the_defaults():
    known = msgspec.to_builtins(Settings())
    bases = {name: {"path": base["path"]} for name, base in known["knowledge_bases"].items()}

    assert {**{name: known[name] for name in DEFAULTS}, "knowledge_bases": bases} == DEFAULTS


@pytest.mark.parametrize("chosen", [Settings(), Settings(timezone="Asia/Tokyo", session_bootstrap=["user", "soul"])])
def test_a_session_start_obeys_the_settings_as_they_are_kept_for_hooks(chosen):
    plain = plain_settings(msgspec.to_builtins(chosen))

    assert (plain.timezone, plain.bootstrap) == (chosen.timezone, chosen.bootstrap)
    assert plain.orders_bases == chosen.orders_bases
    assert plain.context.budget_chars == chosen.context.budget_chars
