"""Find who else says what is withdrawn: their line stays until they are withdrawn as well."""

from dataclasses import replace

from eventlog.app.replay import replay
from eventlog.events import Retraction
from eventlog.log import EventLog
from eventlog.projections.state.conversations import Conversations
from eventlog.projections.state.distinct_facts import Statement
from eventlog.projections.state.fact_scopes import fact_scopes
from eventlog.projections.views.memory import MEMORY
from eventlog.settings.schema import Settings

_STATEMENTS = replace(MEMORY, render=lambda _state, _settings: ())


def still_said(log: EventLog, retraction: Retraction) -> list[str]:
    """List the events whose facts or decisions a retraction leaves though it withdraws an equal one, oldest first."""
    state = replay(log, Settings(), projections=[_STATEMENTS], save=False).states[Conversations]

    def is_withdrawn(statement: Statement) -> bool:
        return retraction.target == statement.id or retraction.conversation == statement.conversation_id

    equal = [fact.statements for scope in fact_scopes(state) for fact in scope.facts]
    halved = [statements for statements in equal if any(map(is_withdrawn, statements))]
    left = {(one.ts, one.id) for statements in halved for one in statements if not is_withdrawn(one)}
    return [event_id for _, event_id in sorted(left)]
