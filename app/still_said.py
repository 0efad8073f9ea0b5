"""Find who else says what is withdrawn: their line stays until they are withdrawn as well."""

from eventlog.app.replay import replay
from eventlog.events import Retraction
from eventlog.log import EventLog
from eventlog.projections.state.distinct_facts import Statement
from eventlog.projections.state.fact_scopes import fact_scope
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import Settings


def still_said(log: EventLog, retraction: Retraction) -> list[str]:
    """List the events whose facts or decisions a retraction leaves though it withdraws an equal one, oldest first."""
    library = replay(log, Settings(), save=False).library

    def is_withdrawn(statement: Statement) -> bool:
        return retraction.target == statement.id or retraction.conversation == statement.conversation_id

    equal = [fact.statements for name in library.names(MEMORY.name) for fact in fact_scope(library, name).facts]
    halved = [statements for statements in equal if any(map(is_withdrawn, statements))]
    left = {(one.ts, one.id) for statements in halved for one in statements if not is_withdrawn(one)}
    return [event_id for _, event_id in sorted(left)]
