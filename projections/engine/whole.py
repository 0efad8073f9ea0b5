"""The documents of a view for a state that lies whole in memory: the code is that of a replay."""

from collections.abc import Callable, Iterable

from eventlog.projections.base import Document, Projection, View
from eventlog.projections.state.conversations import Conversations
from eventlog.settings.schema import Settings


def whole(name: str, view: View) -> Callable[[Conversations, Settings], Iterable[Document]]:
    """Make the function that renders all documents of a view."""

    def render(state: Conversations, settings: Settings) -> Iterable[Document]:
        from eventlog.projections.engine.replay import of_state

        return of_state(state, settings, Projection(name, Conversations, render, (), view=view))

    return render
