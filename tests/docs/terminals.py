"""Every block of a page that somebody could repeat: what shows that it is true, or why nothing can."""

import re
from itertools import pairwise
from typing import NamedTuple

from tests.docs.follow import Step, steps
from tests.docs.references import PAGES
from tests.support.tree import ROOT

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class Excused(NamedTuple):
    """A block nobody follows, by its page and how it begins; where it is run instead, or why it cannot be."""

    page: str
    begins: str
    reason: str


# The only blocks of commands on any page that are not run as they stand there.
EXCUSED = (
    Excused("README.md", "make demo", "wants a package index; `tests/docs/test_demo.py: test_every_line_of_the_demo_works_when_typed_and_the_home_stays_as_it_was`"),
    Excused("README.md", "uv tool install .", "wants a package index; `tests/packaging/test_packaging.py: test_an_installed_wheel_runs_from_any_directory`"),
    Excused("docs/cluster.md", "$ eventlog replay --cluster", "starts a cluster; `tests/app/cluster/test_replay_stores.py: test_the_terminal_of_the_page_is_true`"),
    Excused("docs/sync.md", "pip install 'agent-eventlog[sync]'", "wants a repository somewhere; `tests/docs/test_demo.py: test_a_fact_of_one_laptop_is_known_on_the_other_and_forgotten_on_both`"),
    Excused("docs/sync.md", "pip install 'agent-eventlog[nats]'", "wants servers of NATS; `tests/app/sync/test_nats_remote.py: test_files_come_back_as_they_were_written`"),
    Excused("CONTRIBUTING.md", "git clone", "wants a repository to clone, and is this very suite"),
    Excused("docs/howto.md", "eventlog backup create", "writes into the home; `tests/app/test_backup.py: test_on_the_command_line_there_and_back`"),
    Excused("docs/howto.md", "eventlog install claude\neventlog import", "opens a browser; `tests/cli/page/test_page.py: test_the_report_is_one_file_for_its_owner`"),
    Excused("docs/howto.md", "eventlog backup restore", "wants another home; `tests/app/test_backup.py: test_on_the_command_line_there_and_back`"),
    Excused("docs/howto.md", "eventlog scan", "wants a secret; `tests/app/test_scan.py: test_redact_erases_what_is_found_in_the_store`"),
    Excused("docs/howto.md", "eventlog seal", "wants a head noted before; `tests/log/test_seals.py: test_on_the_command_line`"),
    Excused("docs/howto.md", "eventlog verify", "wants damage; `tests/log/test_repair.py: test_on_the_command_line_it_tells_what_was_moved`"),
    Excused("docs/howto.md", "git pull", "wants a repository to pull from and a package index; `tests/log/test_wire.py: test_a_log_of_any_release_is_rendered`"),
    Excused("docs/howto.md", "eventlog uninstall", "wants a host; `tests/app/setup/install/test_install.py: test_installing_and_uninstalling_gives_back_every_byte`"),
    Excused("docs/page.md", "eventlog report", "opens a browser; `tests/cli/page/test_page.py: test_the_report_is_one_file_for_its_owner`"),
    Excused("docs/hosts.md", "make hosts ", "wants npm, a network and an hour"),
    Excused("fixtures/README.md", ".venv/bin/python -m tests.support.wire", "adds a release; `tests/log/test_wire.py: test_a_log_of_any_release_is_read_whole`"),
)  # fmt: skip
# Pages that `tests/docs/test_adding.py` follows from their first block to their last.
FOLLOWED = ("docs/adding-a-host.md", "docs/adding-a-projection.md")


def excuse(page: str, step: Step) -> Excused | None:
    """Return why a block of a page is not followed; None where it is."""
    return next((one for one in EXCUSED if page == one.page and step.body.startswith(one.begins)), None)


def blocks() -> list[tuple[str, str, Step]]:
    """List the blocks of all pages: each with the name of its page, and the whole page."""
    texts = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
    return [(name, text, step) for name, text in texts.items() for step in steps(text)]


def stories(text: str) -> dict[str, list[Step]]:
    """List the blocks of a page by the heading of the second level they stand below; "" above the first."""
    outside = _CODE.sub(lambda block: "\n" * block.group().count("\n"), text).split("\n")
    lines, starts = text.split("\n"), [at for at, line in enumerate(outside) if line.startswith("## ")]
    parts = ["\n".join(lines[start:stop]) for start, stop in pairwise([0, *starts, len(lines)])]
    names = ["", *(lines[start].removeprefix("## ") for start in starts)]
    return {name: told for name, part in zip(names, parts, strict=True) if (told := steps(part))}
