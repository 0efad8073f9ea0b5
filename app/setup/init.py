"""The user's own files, made from their templates: AGENTS.md, SOUL.md, USER.md and user/profile.md."""

from pathlib import Path

from eventlog.app.build.user_files import create
from eventlog.projections.context.agent_context import ContextFile
from eventlog.projections.context.context_files import templated
from eventlog.settings.schema import Settings


def missing(settings: Settings, home: str) -> list[ContextFile]:
    """List the files that have a template and are not there."""
    return [file for file in templated(settings, home) if not Path(file.path).exists()]


def create_file(file: ContextFile) -> None:
    """Write a file from its template, never over anything; raises NotStored."""
    create(Path(file.path), file.default_template or "")
