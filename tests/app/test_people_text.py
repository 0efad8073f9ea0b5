"""A line a person wrote leaves a file only when a person says so, and what a change removes can be had back."""

import pytest

from eventlog import Retraction
from eventlog.app.build.replay import replay
from tests.support.bases import LAST_WORD, SETTINGS, apply_all, edits, planned, rendered, types, user_md, write_user
from tests.support.use_cases import apply, decide, rebuild, waiting

NAMESAKES = "# M\n\n## Backend\n\n### Commands\n\n- never migrate prod\n\n## Legacy\n\n### Commands\n\n- perl old.pl\n"


def withdraw(log, entry):
    log.append(Retraction(conversation_id="human", target=entry.id))


# ------------------------------------------------------------------------------------------------ where a section stands


def test_deleting_a_section_leaves_the_subsections_of_others_alone_then_and_later(log):
    write_user(NAMESAKES)
    planned(log, "Legacy", None, operation="delete")
    done = apply_all(log, LAST_WORD)
    rebuild(log, LAST_WORD)

    assert user_md().read_text() == NAMESAKES[: NAMESAKES.index("## Legacy")]
    assert [("Legacy", 2)] == [(one.heading, one.level) for one in done.applied]
    assert not [one for one in edits(log) if one.key.under == ("M", "Backend")]


def test_what_goes_with_a_deleted_section_is_not_told_for_itself(log):
    planned(log, "S", "agent's")
    planned(log, "C", "agent's, too", level=3)
    apply_all(log)
    planned(log, "S", None, operation="delete")

    assert [("S", 2)] == [(one.heading, one.level) for one in apply_all(log).applied]
    assert b"" == user_md().read_bytes()


def test_a_deletion_that_is_taken_back_gives_all_its_text_back(log):
    write_user(NAMESAKES)
    entry = planned(log, "Legacy", None, operation="delete")
    apply_all(log, LAST_WORD)
    withdraw(log, entry)
    apply_all(log, LAST_WORD)

    assert user_md().read_text() == NAMESAKES


def test_a_heading_that_occurs_twice_waits_and_says_what_tells_the_two_apart(log):
    write_user(NAMESAKES)
    planned(log, "Commands", "- new", level=3)
    [staged] = apply_all(log, LAST_WORD).staged

    assert user_md().read_text() == NAMESAKES
    assert staged.reason == (
        "2 sections have this heading and level: line 5 under M > Backend; line 11 under M > Legacy"
    )


@pytest.mark.parametrize("under", [["Legacy"], ["M", "Legacy"]])
def test_headings_above_tell_equal_ones_apart(log, under):
    write_user(NAMESAKES)
    planned(log, "Commands", "- new", level=3, under=under)
    apply_all(log, LAST_WORD)

    assert user_md().read_text() == NAMESAKES.replace("perl old.pl", "new")


def test_nothing_above_is_told_by_an_empty_list(log):
    write_user("## S\n\none\n\n# T\n\n## S\n\ntwo\n")
    planned(log, content="new", under=[])
    apply_all(log, LAST_WORD)

    assert user_md().read_text() == "## S\n\nnew\n\n# T\n\n## S\n\ntwo\n"


def test_a_new_section_is_put_under_the_one_that_is_named(log):
    write_user(NAMESAKES)
    planned(log, "Tests", "- make test", level=3, under=["Backend"])
    apply_all(log)

    assert user_md().read_text() == NAMESAKES.replace("prod\n", "prod\n\n### Tests\n\n- make test\n")


def test_a_section_is_known_again_when_the_headings_above_it_change(log):
    planned(log, content="one")
    apply_all(log)
    write_user("# Ada\n\n## S\n\none\n")
    planned(log, content="two")
    apply_all(log)

    assert user_md().read_text() == "# Ada\n\n## S\n\ntwo\n"
    assert edits(log) == []


@pytest.mark.parametrize("source", ["A \\<KEY\\> b", "**A** `<KEY>` b", "A &lt;KEY&gt; b"])
@pytest.mark.parametrize("entry", [{"content": "old\nnew"}, {"content": None, "operation": "delete"}])
def test_a_heading_is_found_by_the_text_people_read(log, source, entry):
    write_user(f"## {source}\n\nold\n\n## C\n")
    planned(log, "A <KEY> b", **entry)
    apply_all(log, LAST_WORD)

    after = f"## {source}\n\nold\nnew\n\n## C\n" if entry["content"] else "## C\n"
    assert user_md().read_text() == after


def test_deleting_what_is_not_there_says_so_and_adds_nothing(log):
    write_user("# T\n")
    planned(log, "Nope", None, operation="delete")
    done = apply_all(log)

    assert ([], ["Nope"]) == (done.applied, [one.heading for one in done.nothing])
    assert user_md().read_text() == "# T\n"


def test_a_byte_order_mark_outlives_the_first_section(log):
    write_user(b"\xef\xbb\xbf# A\n\ntext\n\n# B\n\nb\n")
    planned(log, "A", None, operation="delete", level=1)
    apply_all(log, LAST_WORD)

    assert user_md().read_bytes() == b"\xef\xbb\xbf# B\n\nb\n"


# ------------------------------------------------------------------------------------------------ whose line it is


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"content": "mine"}, "would remove 2 lines you wrote: - a; - b"),
        ({"content": "- a"}, "would remove 1 line you wrote: - b"),
        ({"content": ""}, "would remove 2 lines you wrote: - a; - b"),
        ({"content": None, "operation": "delete"}, "would remove 3 lines you wrote: S; - a; - b"),
    ],
)
def test_an_entry_that_would_remove_a_persons_line_waits_with_the_lines(log, entry, reason):
    write_user("## S\n\n- a\n- b\n")
    planned(log, **entry)
    before = len(types(log))
    done = apply_all(log)

    assert user_md().read_text() == "## S\n\n- a\n- b\n"
    assert ([reason], before) == ([one.reason for one in done.staged], len(types(log)))


def test_an_entry_that_keeps_every_line_is_applied_at_once_and_the_lines_stay_a_persons(log):
    write_user("## S\n\n- a\n- b\n")
    planned(log, content="- a\n- new\n- b")
    first = apply_all(log)
    planned(log, content="- new")
    second = apply_all(log)

    assert ([], ["would remove 2 lines you wrote: - a; - b"]) == (first.staged, [one.reason for one in second.staged])
    assert user_md().read_text() == "## S\n\n- a\n- new\n- b\n"


def test_an_entry_that_says_what_a_person_wrote_does_not_make_it_the_agents(log):
    write_user("## S\n\nmine\n")
    entry = planned(log, content="mine")
    apply_all(log)
    withdraw(log, entry)
    apply_all(log)

    assert user_md().read_text() == "## S\n\nmine\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("persons", "agents", "both"),
    [
        ("- a\n- B\n- c", "- A\n- b\n- c", "- A\n- B\n- c"),
        ("- a\n- b\n- c\n- mine", "- a\n- b\n- C", "- a\n- b\n- C\n- mine"),
        ("- a\n- b\n- c\n- mine", "- a\n- b\n- c\n- its", "- a\n- b\n- c\n- mine\n- its"),
        ("- b\n- c", "- a\n- b\n- c\n- d", "- b\n- c\n- d"),
    ],
)
def test_changes_of_different_lines_are_merged(log, persons, agents, both):
    planned(log, content="- a\n- b\n- c")
    apply_all(log)
    write_user(f"## S\n\n{persons}\n")
    planned(log, content=agents)
    done = apply_all(log)

    assert done.staged == []
    assert user_md().read_text() == rendered(log) == f"## S\n\n{both}\n"


def test_what_was_kept_beside_an_entry_stays_a_persons(log):
    planned(log, content="- a")
    apply_all(log)
    write_user("## S\n\n- a\n- mine\n")
    planned(log, content="- b")
    apply_all(log)
    planned(log, content="- c")
    apply_all(log)

    assert user_md().read_text() == rendered(log) == "## S\n\n- c\n- mine\n"


def test_a_person_can_have_it_applied_all_the_same(log):
    write_user("## S\n\n- a\n")
    planned(log)
    apply_all(log)
    [staged] = waiting(log, SETTINGS)
    decided = decide(log, SETTINGS, staged, "apply")

    assert user_md().read_text() == "## S\n\nnew\n"
    assert [("- a",)] == [one.replaced for one in decided.applied.applied]


def test_a_decision_that_is_taken_back_gives_the_text_back(log):
    write_user("## S\n\n- a\n")
    planned(log)
    apply_all(log)
    [staged] = waiting(log, SETTINGS)
    decided = decide(log, SETTINGS, staged, "apply")
    withdraw(log, decided.event)
    done = apply_all(log)

    assert user_md().read_text() == "## S\n\n- a\n"
    assert ["would remove 1 line you wrote: - a"] == [one.reason for one in done.staged]


def test_where_the_last_word_wins_the_old_text_is_in_the_log_first(log):
    write_user("## S\n\n- a\n- b\n")
    entry = planned(log)
    done = apply_all(log, LAST_WORD)
    kept = [one.content for one in edits(log)]
    withdraw(log, entry)
    apply_all(log, LAST_WORD)

    assert (["- a\n- b"], [("- a", "- b")]) == (kept, [one.replaced for one in done.applied])
    assert user_md().read_text() == "## S\n\n- a\n- b\n"


# ------------------------------------------------------------------------------------------------ settling


def test_a_deletion_above_a_persons_edit_settles(log):
    planned(log, "S", "agent's")
    apply_all(log)
    planned(log, "T", None, operation="delete", level=1)
    write_user("# T\n\n## S\n\nby hand\n")
    apply_all(log)
    rebuild(log, SETTINGS)
    before = types(log)
    again = rebuild(log, SETTINGS)

    assert (before, 0) == (types(log), again.applied.stored)
    assert user_md().read_text() == "# T\n\n## S\n\nby hand\n"


def test_a_log_is_replayed_once_where_nothing_was_stored(log, monkeypatch):
    planned(log)
    rebuild(log, SETTINGS)
    runs: list[object] = []

    def counted(*args, **options):
        runs.append(args)
        return replay(*args, **options)

    monkeypatch.setattr("eventlog.app.build.rebuild.replay", counted)
    rebuild(log, SETTINGS)

    assert len(runs) == 1


def test_a_lost_file_has_its_namesakes_under_their_parents_again(log):
    write_user(NAMESAKES)
    planned(log, "Commands", "- never migrate prod\n- x", level=3, under=["Backend"])
    planned(log, "Commands", "- perl old.pl\n- y", level=3, under=["Legacy"])
    apply_all(log)
    user_md().unlink()
    apply_all(log)

    assert user_md().read_text() == rendered(log)
    assert user_md().read_text() == NAMESAKES.replace("prod\n", "prod\n- x\n").replace("old.pl\n", "old.pl\n- y\n")


def test_a_dry_run_tells_what_would_be_replaced(log):
    write_user("## S\n\n- a\n")
    planned(log)

    assert [("- a",)] == [one.replaced for one in apply(log, LAST_WORD, dry_run=True).applied]
