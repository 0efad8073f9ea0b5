"""List the verbs of the command line, in rooms named after their use cases.

`VERBS` is the one table of them: topic, module and summary. A verb's module is imported when the verb is called.

Imported by: cli.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    import click


class _Verb:
    """A row of `eventlog --help`, and the module below `eventlog.cli.verbs` that holds the command."""

    def __init__(self, topic: str, module: str, summary: str) -> None:
        self.topic = topic
        self.module = module
        self.summary = summary


VERBS = {
    "fact": _Verb("Record", "write.save", "Save a fact for later sessions."),
    "summary": _Verb("Record", "write.save", "Save a summary of the session, or of one stage of it."),
    "plan": _Verb("Record", "write.plan", "Plan a change of one section of USER.md, AGENTS.md or another base."),
    "validate": _Verb("Record", "write.plan", "Check a file of plan entries, or print its JSON Schema."),
    "append": _Verb("Record", "write.append", "Append events of any type, one or a stream."),
    "import": _Verb("Record", "write.import_past", "Import past conversations, and the memory of other programs."),
    "init": _Verb("Agents", "setup.config", "Create your own files from templates: USER.md, user/profile.md, …"),
    "install": _Verb("Agents", "setup.install", "Register the memory hook with coding agents."),
    "uninstall": _Verb("Agents", "setup.install", "Remove the memory hook from agents' files."),
    "plugin": _Verb("Agents", "setup.plugin", "Build a plugin that agents install with commands of their own."),
    "doctor": _Verb("Agents", "setup.doctor", "Check the installation and suggest fixes."),
    "hook": _Verb("Agents", "serve.agents", "Answer a hook of a coding agent: its JSON on stdin."),
    "mcp": _Verb("Agents", "serve.agents", "Serve memory as tools over the Model Context Protocol."),
    "context": _Verb("Agents", "serve.agents", "Print what a session starts with, within a budget."),
    "lifecycle": _Verb("Agents", "serve.lifecycle", "Record a session's start or end, where the host has no hooks."),
    "replay": _Verb("Knowledge", "build.replay", "Rebuild the knowledge files from the log."),
    "settle": _Verb("Knowledge", "build.replay", "Finish ended sessions: write missing summaries, then rebuild."),
    "apply": _Verb("Knowledge", "build.apply", "Apply plan entries to their knowledge bases."),
    "status": _Verb("Knowledge", "build.apply", "List sections that are pending, staged or edited by hand."),
    "resolve": _Verb("Knowledge", "write.resolve", "Write or discard a staged plan entry."),
    "backup": _Verb("Audit", "setup.backup", "Copy the store into one file, and restore it."),
    "prune": _Verb("Audit", "setup.backup", "Free the disk of what can be made again; never the log."),
    "sync": _Verb("Audit", "setup.sync", "Keep the same memory on all your machines, encrypted."),
    "config": _Verb("Knowledge", "setup.config", "Show the settings in force and where each comes from."),
    "why": _Verb("Knowledge", "ask.why", "Show the events behind each line of a knowledge file."),
    "show": _Verb("Knowledge", "ask.show", "Show one session, one event, or a knowledge file at a past time."),
    "diff": _Verb("Knowledge", "ask.diff", "Show how the knowledge files changed between two times."),
    "bisect": _Verb("Knowledge", "ask.diff", "Find the event that added a text to a file, or removed it."),
    "today": _Verb("Knowledge", "ask.period", "Show what was done and decided today."),
    "week": _Verb("Knowledge", "ask.period", "Show what was done, decided, learned and dropped this week."),
    "on": _Verb("Knowledge", "ask.period", "Show what was done and decided on a day."),
    "search": _Verb("Knowledge", "ask.search", "Search facts, summaries and past conversations, best first."),
    "recall": _Verb("Knowledge", "ask.search", "Search likewise; --explain shows why a prompt recalls a fact or not."),
    "forget": _Verb("Knowledge", "write.take_back", "Forget a statement everywhere (reversible)."),
    "edit": _Verb("Knowledge", "write.take_back", "Say a fact in other words; its history stays in `why`."),
    "move": _Verb("Knowledge", "write.take_back", "Move a fact to another project, or to your own memory."),
    "review": _Verb("Knowledge", "write.review", "Decide about what waits, contradicts, is old or repeated."),
    "redact": _Verb("Knowledge", "write.redact", "Erase a text everywhere, from the log too (for good)."),
    "undo": _Verb(
        "Knowledge", "write.take_back", "Undo the last change of yours or of a plan entry, or one by its id."
    ),
    "share": _Verb("Knowledge", "write.team", "Share decisions with your team, as files of the repository."),
    "team": _Verb("Knowledge", "write.team", "List the decisions your team shares; trust those of a checkout."),
    "memory": _Verb("Audit", "ask.memory", "Show the memory of a project, and of you."),
    "restore": _Verb("Knowledge", "write.take_back", "Restore a MEMORY.md or a knowledge base as of a past time."),
    "export": _Verb("Audit", "ask.export", "Print the log or the memory for other programs and people."),
    "query": _Verb("Audit", "ask.query", "List events by session, type, time or text."),
    "sessions": _Verb("Audit", "ask.sessions", "List sessions."),
    "stats": _Verb("Audit", "ask.stats", "Show weekly statistics: how sessions were saved."),
    "report": _Verb("Audit", "ask.page", "Write memory as one HTML page: any day, every reason."),
    "serve": _Verb("Audit", "ask.page", "Show that page live in your browser; forget and undo there."),
    "project": _Verb("Audit", "ask.project", "List projects and their paths; join two into one."),
    "verify": _Verb("Audit", "ask.verify", "Read every line of the log and report damage."),
    "seal": _Verb("Audit", "ask.verify", "Add the state of the log to a chain, so that changes show."),
    "scan": _Verb("Audit", "ask.scan", "Search the store, files or transcripts for secrets."),
    "completion": _Verb("Shell", "setup.shell", "Complete verbs, options, sessions, projects and ids in your shell."),
    "help": _Verb("Shell", "setup.shell", "Explain a verb, or show a page of the documentation."),
}


def load(verb: str) -> "click.Command":
    """Import the module of a verb, and return its command."""
    module = import_module(f"eventlog.cli.verbs.{VERBS[verb].module}")
    command: click.Command = getattr(module, f"_{verb}_command")
    command.name = verb
    return command
