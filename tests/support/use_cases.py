"""Use cases as a test asks for them: of a log and its settings, on this machine."""

from eventlog.app.ask import why as explaining
from eventlog.app.build import apply as applying
from eventlog.app.build import finalize as finalizing
from eventlog.app.build import rebuild as rebuilding
from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.write import resolve as resolving
from eventlog.settings.schema import Settings

DEFAULTS = Settings()


def opened(log, settings=DEFAULTS):
    return OpenStore(log, settings, Machine.here())


def apply(log, settings, **options):
    return applying.apply(opened(log, settings), **options)


def rebuild(log, settings, **options):
    return rebuilding.rebuild(opened(log, settings), **options)


def waiting(log, settings, name=""):
    return resolving.waiting(opened(log, settings), name)


def decide(log, settings, *decision):
    return resolving.decide(opened(log, settings), *decision)


def explain(log, settings, file, number=None):
    return explaining.explain(opened(log, settings), file, number)


def finalize(log, settings=DEFAULTS):
    return finalizing._finalize_sessions(opened(log, settings))


def any_left(log):
    return any(True for _ in finalizing._over(opened(log)))


def by_path(replayed):
    return {document.path: document for document in replayed.documents}
