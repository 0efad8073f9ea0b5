import os

import pytest

from eventlog.projections.context.context_files import loaded_by_host
from tests.support.context_scene import history


@pytest.fixture
def home(tmp_path):
    (tmp_path / "shop").mkdir()
    for name in ("AGENTS.md", "RULES.md"):
        (tmp_path / "shop" / name).write_text("rules")
    (tmp_path / "USER.md").write_text("user")
    return tmp_path


def loaded(home, agent):
    return sorted(os.path.relpath(path, home) for path in loaded_by_host(agent, str(home / "shop"), str(home)))


@pytest.mark.parametrize("agent", ["codex", "cursor", "copilot", "vscode", "opencode", "amp"])
def test_hosts_that_load_a_projects_rules(home, agent):
    assert ["shop/AGENTS.md"] == loaded(home, agent)


@pytest.mark.parametrize("agent", ["claude-code", "gemini", "cli", "", "unheard-of"])
def test_hosts_that_do_not(home, agent):
    assert [] == loaded(home, agent)


@pytest.mark.parametrize(
    ("agent", "name"), [("claude-code", "CLAUDE.md"), ("gemini", "GEMINI.md"), ("qwen-code", "QWEN.md")]
)
@pytest.mark.parametrize("text", ["@AGENTS.md", "See @./AGENTS.md and\nmore", "# Rules\n\n- @AGENTS.md\n"])
def test_a_hosts_own_file_may_import_it(home, agent, name, text):
    (home / "shop" / name).write_text(text)

    assert ["shop/AGENTS.md", f"shop/{name}"] == loaded(home, agent)


@pytest.mark.parametrize("text", ["`@AGENTS.md`", "```\n@AGENTS.md\n```", "mail ada@AGENTS.md", "@elsewhere.md"])
def test_what_only_looks_like_an_import_is_none(home, text):
    (home / "shop" / "CLAUDE.md").write_text(text)

    assert ["shop/CLAUDE.md"] == loaded(home, "claude-code")


def test_an_import_may_start_at_the_home(home):
    (home / ".claude").mkdir()
    (home / ".claude" / "CLAUDE.md").write_text("@~/USER.md")

    assert [".claude/CLAUDE.md", "USER.md"] == loaded(home, "claude-code")


def test_a_hosts_own_file_may_be_a_link_to_it(home):
    (home / "shop" / "CLAUDE.md").symlink_to("AGENTS.md")

    assert ["shop/AGENTS.md"] == loaded(home, "claude-code")


def test_codex_prefers_an_override(home):
    (home / "shop" / "AGENTS.override.md").write_text("rules")

    assert ["shop/AGENTS.override.md"] == loaded(home, "codex")


def test_what_the_host_loads_is_left_out_of_the_context_and_named(tmp_path):
    scene = history(tmp_path)
    context = scene.ask(agent="codex").context

    assert [str(scene.project / "AGENTS.md")] == context.left_out
    assert "Prices are integers" not in context.text
    assert "Write tests first." in context.text
