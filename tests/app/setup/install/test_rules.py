"""Rules for agents that read them: a file of our own, or a marked block in one that others share."""

import pytest

from eventlog.hooks import prompts
from tests.support.command_line import call


@pytest.mark.slow
def test_rules_come_and_go_with_the_hook(home, tmp_path):
    call("install", "claude", "cursor", "codex", "gemini", "--project", "--with-rules")
    project = tmp_path / "project"
    skill = (project / ".claude" / "skills" / "eventlog" / "SKILL.md").read_text()
    rule = (project / ".cursor" / "rules" / "eventlog.mdc").read_text()
    block = (project / "AGENTS.md").read_text()
    call("uninstall", "claude", "cursor", "codex", "gemini", "--project")

    assert skill.startswith("---\nname: eventlog\n")
    assert "alwaysApply: true" in rule
    assert not [text for text in (skill, rule, block) if "<what" in text or "--session" in text]
    assert 3 == sum(f"    {prompts.program()} fact " in text for text in (skill, rule, block))
    assert 3 == sum("--entity 'what it is about'" in text for text in (skill, rule, block))
    assert 3 == sum(f"`{prompts.program()} search '" in text for text in (skill, rule, block))
    assert block.startswith("<!-- eventlog:begin -->")
    assert [project / ".git"] == list(project.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("text", ["# Agents\n", "# Agents", "", "# Agents\r\n\r\nText\r\n", "# Agents\n\n\n"])
def test_a_shared_file_gets_a_marked_block_and_loses_it(home, tmp_path, text):
    path = tmp_path / "project" / "AGENTS.md"
    path.write_bytes(text.encode())
    call("install", "codex", "--project", "--with-rules")
    there = path.read_bytes().decode()
    call("install", "codex", "--project", "--with-rules")
    again = path.read_bytes().decode()
    call("uninstall", "codex", "--project")

    assert there.startswith(text)
    assert "<!-- eventlog:begin -->" in there
    assert there == again
    assert text == path.read_bytes().decode()


def test_a_block_others_wrote_around_is_taken_out_alone(home, tmp_path):
    path = tmp_path / "project" / "AGENTS.md"
    path.write_text("# Agents\n")
    call("install", "codex", "--project", "--with-rules")
    path.write_text(path.read_text() + "\n## Later\n")
    call("uninstall", "codex", "--project")

    assert path.read_text() == "# Agents\n\n## Later\n"


def test_rules_stay_as_long_as_another_agent_reads_them(home, tmp_path):
    call("install", "codex", "copilot", "--project", "--with-rules")
    call("uninstall", "copilot", "--project")
    after_one = (tmp_path / "project" / "AGENTS.md").exists()
    call("uninstall", "codex", "--project")

    assert after_one
    assert not (tmp_path / "project" / "AGENTS.md").exists()


def test_rules_are_in_the_language_chosen(home, tmp_path):
    (home / ".eventlog").mkdir()
    (home / ".eventlog" / "config.yaml").write_text("locale: zh\n")
    call("install", "claude", "--with-rules")

    text = (home / ".claude" / "skills" / "eventlog" / "SKILL.md").read_text()

    assert "## 记忆\n\n完成用户请求的任务、" in text
    assert "search '几个字'" in text


def test_a_host_without_rule_files_says_so(home):
    assert "use --project" in call("install", "cursor", "--with-rules").out
