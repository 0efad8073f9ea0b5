"""A store opened on a machine: what nearly every use case works on."""

from contextlib import suppress
from typing import NamedTuple

from eventlog.app.machine import Machine
from eventlog.fast import os
from eventlog.format.errors import NotStored
from eventlog.log.event_log import EventLog
from eventlog.settings.schema import Settings
from eventlog.store import Store, spool
from eventlog.store.replica import own_replica_of


class OpenStore(NamedTuple):
    """The log of a store, the settings in force, and the machine it is on."""

    log: EventLog
    settings: Settings
    machine: Machine

    @property
    def store(self) -> Store:
        """The paths of the store."""
        return self.log.store

    @property
    def replica(self) -> str:
        """The name of the store; "" while it has none of its own."""
        return own_replica_of(self.store)


def open_log(store: Store, machine: Machine) -> EventLog:
    """Open the log, with what waited for it; to record something, a mistake in `config.yaml` is no obstacle."""
    if os.path.exists(f"{store.redactions}.pending"):
        from eventlog.app.write.erase_everywhere import complete  # a redaction was killed

        with suppress(NotStored):  # a full disk must not keep events out; doctor tells
            complete(store)
    spool.take_in(store)
    return EventLog(store, clock=machine.clock)


def open_store(store: Store, machine: Machine) -> OpenStore:
    """Open the log and read the settings; raises BadSettings."""
    from eventlog.settings import load  # brings YAML along, which only this needs

    return OpenStore(open_log(store, machine), load.load(store).settings, machine)
