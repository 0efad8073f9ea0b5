"""The contract in short: what a knowledge base would be if only the log had ever written it."""

from collections import Counter, defaultdict

from tests.support.contract import turn
from tests.support.contract_text import same

REVIEWED = "soul"  # of which a person decides about every entry


def bases(contract):
    """Map each base to its sections, in their order, each with its text."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for _, entry, operation, content in sorted(_changes(contract), key=lambda change: change[0]):
        page, heading = found[entry["key"]["path"]], entry["key"]["heading"]
        if operation == "delete":
            page.pop(heading, None)
        else:  # a section that is not there comes last, also one without a text
            page[heading] = content.strip()
    return {f"bases/{base}.md": page for base, page in found.items() if page}


def _changes(contract):
    """Yield the entries in force, each with its change, from when it was declared or a person decided about it."""
    decisions = [event for event in contract.events if event["type"] == "entry_resolved" and contract.holds(event)]
    decided = {event["target"]: event for event in decisions}
    every = [event for event in contract.events if event["type"] == "plan_entry"]
    entries = [entry for entry in every if contract.holds(entry) and contract.allowed([entry.get("content") or ""])]
    refused = [other for other in every if _is_refused(contract, other, decided.get(other["id"]))]
    entries = [entry for entry in entries if entry["id"] in decided or _plan(entry) not in map(_plan, refused)]
    in_batches = Counter(_place(entry) for entry in entries if _change(entry)[0] != "no-op" and entry.get("batch"))
    doubled = [place[0] for place, times in in_batches.items() if times > 1]
    for entry in entries:
        decision = decided.get(entry["id"], {"choice": "none"})
        lines = [line.removeprefix("- ") for line in (entry.get("content") or "").split("\n")]
        waits = _place(entry)[0] in doubled or entry["key"]["path"] == REVIEWED or contract.allowed(lines) != lines
        if _change(entry)[0] == "no-op":
            continue  # there is nothing to decide
        if decision["choice"] == "edited":
            yield turn(decision), entry, "update" if decision["content"] else "clear", decision["content"]
        elif any(line.startswith("# ") for line in _change(entry)[1].split("\n")):
            continue  # no section could have it: the text is a heading of its own
        elif decision["choice"] == "apply":
            yield turn(decision), entry, *_change(entry)
        elif decision["choice"] == "none" and not waits:
            yield turn(entry), entry, *_change(entry)


def _is_refused(contract, entry, decision):
    """Return whether a person decided against an entry: nobody else's that plans the same counts, either."""
    rejections = (event for event in contract.in_force if event["type"] == "rejected")
    is_discarded = decision is not None and decision["choice"] == "discard"
    return is_discarded or any(event.get("target") == entry["id"] for event in rejections)


def _plan(entry):
    return entry["key"]["path"], entry["key"]["heading"], _change(entry)[0], same(_change(entry)[1])


def _place(entry):
    return (entry.get("batch"), entry["key"]["path"]), entry["key"]["heading"]


def _change(entry):
    """Return the operation, by default that of the content, and the text."""
    content = entry.get("content")
    operation = entry.get("operation") or ("no-op" if content is None else "update")
    if operation == "update" and not (content or "").strip():
        return ("no-op" if content is None else "clear"), ""
    return operation, content if operation == "update" else ""
