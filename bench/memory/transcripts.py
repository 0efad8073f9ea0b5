"""Transcripts as Claude Code writes them: of LoCoMo's dialogues, or of a session's work with all that surrounds it.

What surrounds work is drawn from a seed: titles of other conversations, the same words before every request, intentions
and guesses, shell commands, scratch files, closings with headings and praise.
"""

import json
import random
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from eventlog import EventLog, Machine, Store
from eventlog.app.importing.import_past import import_past
from eventlog.app.importing.source import ImportRequest
from eventlog.app.open_store import open_store

_MOST_TITLES = 3  # of other conversations at the head of a transcript

_REQUEST_EN = """Fix this bug to solve the issue based on task.yaml:
  task_id: {name}
  repo: {project}/{project}
  base_commit: {commit}
  instructions: work in testbed/, follow manual.md, save the patch as output/{name}_preds.json
  problem_statement: {title}
{problem}"""
_REQUEST_ZH = """请根据 task.yaml 修复这个问题：
  task_id: {name}
  repo: {project}/{project}
  base_commit: {commit}
  instructions: 在 testbed/ 中工作，按照 manual.md 的步骤，把补丁保存为 output/{name}_preds.json
  problem_statement: {title}
{problem}"""
_REQUESTS = {"en": _REQUEST_EN, "zh": _REQUEST_ZH}
_INTENTIONS = {
    "en": (
        "I'll help you fix this bug. Let me start by examining the task.yaml file to understand the requirements.",
        "Let me look at the repository first:",
        "Let me set up the testbed, as the problem statement asks for it.",
    ),
    "zh": ("我来帮你修复这个问题。首先查看 task.yaml 文件。", "让我先看看代码仓库：", "我需要先准备测试环境。"),
}
_GUESSES = {
    "en": "Perfect! I can see the code now. At first glance `{other}` looks suspicious, let me check it.",
    "zh": "很好！现在看到代码了。乍一看 `{other}` 有点可疑，让我检查一下。",
}
_NEXT = {
    "en": ("run the tests again", "ok, now write the patch to output/", "thanks, please continue"),
    "zh": ("再跑一遍测试", "好的，把补丁写到 output/", "谢谢，请继续"),
}
_ISSUE_WAS = """Perfect! I've successfully fixed the bug and created the patch. Here's a summary of what was done:

## Summary

I successfully resolved the issue that was described in task.yaml, without any change of the public interface.

### The Problem

The issue was that {cause}.

### Changes Made

**File:** `{file}`

1. {fix}
2. **Added a test**: a regression test that fails without the change

{decision}### Testing

✅ All {tests} tests pass

The patch is saved in `output/{name}_preds.json`."""
_ROOT_CAUSE = """## Summary

I've successfully fixed **{title}**.

### Root Cause

In `{file}`, {cause}.

### Solution

- {fix}
- Added a regression test

{decision}✅ All {tests} tests pass"""
_STEPS_DONE = """Excellent! All tests pass now. Let me summarize what was done:

1. **Set up the testbed**: cloned {project} and checked out the base commit
2. **Found the root cause**: {cause}
3. **Fixed it in** `{file}`: {fix}
4. **Verified** the result with a script

{decision}The fix is minimal and maintains backward compatibility."""
_PLAIN = """The fix is done: {fix}. The problem was in `{file}`, where {cause}; that is why it only showed sometimes.
{decision}Let me know if you want me to open a pull request!"""
_ISSUE_WAS_ZH = """完美！问题已经成功修复，补丁也已生成。总结如下：

## 总结

### 问题

问题的原因是：{cause}。

### 修改内容

**文件：** `{file}`

1. {fix}

{decision}✅ 全部 {tests} 个测试通过"""
_STEPS_DONE_ZH = """太好了，测试全部通过。

1. **根本原因**：{cause}
2. **修复**（`{file}`）：{fix}

{decision}改动很小，接口不变。"""
_CLOSINGS = {"en": (_ISSUE_WAS, _ROOT_CAUSE, _STEPS_DONE, _PLAIN), "zh": (_ISSUE_WAS_ZH, _STEPS_DONE_ZH)}
_DECISIONS = {
    "en": ("Decision: {}.\n\n", "From now on: {}. ", "We agreed that this holds: {}. "),
    "zh": ("决定：{}。\n\n",),
}


class Transcript:
    """A session's file as it grows; `text` is all that was said and done in it."""

    def __init__(self, project: Path | str, began: datetime, chance: random.Random) -> None:
        self.id = _uuid(chance)
        self._project = str(project)
        self._now = began
        self._chance = chance
        self._parent: str | None = None
        self._records: list[dict[str, Any]] = []
        self.text = ""

    def title(self, text: str, leaf: str = "") -> None:
        """Write a title: of another conversation where `leaf` is no message of this one."""
        self._records.insert(0, {"type": "summary", "summary": text, "leafUuid": leaf or self.last})

    @property
    def last(self) -> str:
        """The id of its last message."""
        return self._parent or ""

    def prompt(self, text: str) -> None:
        """Write what the user asks."""
        self._message("user", text)

    def reply(self, text: str) -> None:
        """Write what the agent says."""
        self._message("assistant", [{"type": "text", "text": text}])

    def tool(self, name: str, result: str = "", **arguments: str) -> None:
        """Write the call of a tool and its result."""
        call = f"toolu_{self._chance.getrandbits(64):016x}"
        self._message("assistant", [{"type": "tool_use", "id": call, "name": name, "input": arguments}])
        self._message("user", [{"type": "tool_result", "tool_use_id": call, "content": result}])

    def write(self, folder: Path) -> Path:
        """Write the file where Claude Code would, below `folder`."""
        path = folder / self._project.replace("/", "-") / f"{self.id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in self._records))
        return path

    def _message(self, role: str, content: object) -> None:
        self._now += timedelta(seconds=self._chance.randrange(1, 20))
        about = {"isSidechain": False, "cwd": self._project, "sessionId": self.id, "version": "2.0.64"}
        record = {"parentUuid": self._parent, **about, "gitBranch": "main", "type": role, "uuid": _uuid(self._chance)}
        message = {"role": role, "content": content}
        self._parent = str(record["uuid"])
        self._records.append({**record, "message": message, "timestamp": f"{self._now:%Y-%m-%dT%H:%M:%S}.000Z"})
        self.text += f"\n{json.dumps(content, ensure_ascii=False) if isinstance(content, list) else content}"


def of_work(row: Mapping[str, Any], project: Path, began: datetime, chance: random.Random) -> Transcript:
    """Make a session that found a cause and mended it, among all that is usually around it."""
    lang, (file, other) = row["lang"], row["files"]
    below = project / "testbed" if chance.random() < 1 / 2 else project
    name = f"{project.name}__{project.name}-{chance.randrange(1000, 20000)}"
    words = {**row, "file": file, "name": name, "commit": f"{chance.getrandbits(160):040x}", "project": project.name}
    decision = chance.choice(_DECISIONS[lang]).format(row["decision"]) if "decision" in row else ""
    words |= {"decision": decision, "tests": chance.randrange(9, 90)}
    made = Transcript(project, began, chance)
    made.prompt(_REQUESTS[lang].format(**words) if chance.random() < 4 / 5 else f"{row['title']}\n\n{row['problem']}")
    made.reply(chance.choice(_INTENTIONS[lang]))
    for command in ("ls -la", "rm -rf testbed", f"git clone https://github.com/{project.name}/{project.name} testbed"):
        made.tool("Bash", "total 56", command=command)
    made.tool("Bash", command="pip install -e . -q")
    made.reply(_GUESSES[lang].format(other=other))
    made.tool("Read", file_path=str(below / other))
    made.tool("Read", file_path=str(below / file))
    made.tool("Edit", "updated", file_path=str(below / file), old_string="pass", new_string="return None")
    made.tool("Write", "created", file_path=str(project / "test_issue.py"), content="print('ok')")
    made.tool("Bash", "Exit code 1", command="python test_issue.py")
    made.tool("Write", "created", file_path=str(project / f"debug_{chance.randrange(9)}.py"), content="import sys")
    test = f"tests/test_{Path(file).name}"
    made.tool("Edit", "updated", file_path=str(below / test), old_string="", new_string="def test(): ...")
    made.tool("Bash", "1 failed" if chance.random() < 1 / 3 else "passed", command=f"python -m pytest {test} -q")
    made.tool("Write", "created", file_path=str(project / "output" / f"{name}_preds.json"), content="{}")
    if chance.random() < 1 / 2:
        made.prompt(chance.choice(_NEXT[lang]))
    made.reply(chance.choice(_CLOSINGS[lang]).format(**words))
    return made


def exchange_titles(made: Sequence[tuple[Transcript, str]], chance: random.Random) -> None:
    """Give half of them titles of others, as the host does, and every sixth its own, before or after those."""
    for transcript, own in made:
        if chance.random() < 1 / 6:
            transcript.title(own)
        others = [pair for pair in made if pair[0] is not transcript]
        if chance.random() < 1 / 2:
            for other, title in chance.sample(others, min(len(others), chance.randint(1, _MOST_TITLES))):
                transcript.title(title, other.last)


def imported(folder: Path, store: Path) -> EventLog:
    """Make a store of the transcripts in a folder, by `eventlog import claude FOLDER`."""
    opened = open_store(Store(str(store)), Machine.here()._replace(home=str(store.parent), program="eventlog"))
    request = ImportRequest(folder, store.parent, opened.machine, opened.store, opened.settings)
    log = EventLog(store, fsync=False)
    import_past(log, "claude", request)
    return log


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def of_dialogue(name: str, project: str, turns: Sequence[tuple[str, str, str]], chance: random.Random) -> Transcript:
    """Make a session of what two people said: time, speaker and text of each; the first asks, the other answers."""
    made = Transcript(project, datetime.fromisoformat(turns[0][0]), chance)
    made.id = name
    for _, speaker, text in turns:
        (made.prompt if speaker == turns[0][1] else made.reply)(text)
    return made
