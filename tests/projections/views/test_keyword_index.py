"""`INDEX.md`: keyword -> facts and sessions, and the sessions that are kept."""

import pytest

from eventlog.app.build.publish import publish
from eventlog.app.build.replay import replay as app_replay
from eventlog.projections.catalog import ALL
from eventlog.projections.views import keyword_index
from eventlog.projections.views.keyword_index import KEYWORD_INDEX, _by_keyword
from eventlog.projections.views.summaries import SUMMARIES
from eventlog.settings.schema import MemorySettings, Settings, SummarySettings
from eventlog.store import project_slug
from tests.support.builders import replay

SHOP, BLOG = "/home/ada/shop", "/home/ada/blog"
INDEX = f"projects/{project_slug(SHOP)}/INDEX.md"


def index(log, path="INDEX.md", **settings):
    documents = replay(log, Settings(**settings), projections=[KEYWORD_INDEX], anew=True).documents
    (document,) = (one for one in documents if one.path == path)
    return [line.text for line in document.lines[:-2]]


def section(lines, title):
    after = lines[lines.index(f"## {title}") + 2 :]
    return after[: after.index("")] if "" in after else after


def fact(number, content, session="s", project=SHOP, **fields):
    ts = f"2026-02-20T{number // 60:02}:{number % 60:02}:00.000000Z"
    return {"type": "fact", "ts": ts, "conversation_id": session, "project": project, "content": content, **fields}


def summary(number, session, project=SHOP, **fields):
    return {**fact(number, "", session, project), "type": "stage_summary", "summary": f"Did {session}", **fields}


def told(log, *events):
    log.append_many([{name: one for name, one in event.items() if one not in (None, "")} for event in events])
    return log


def test_a_keyword_leads_to_facts_and_sessions_by_short_ids(log):
    one, two, *_ = log.append_many(
        [
            fact(1, "Prices are cents", "a", entities=["Cart", "API"]),
            fact(2, "Round half even", "b", entities=["cart"]),
            fact(3, "Deploys happen on Fridays", "c"),
        ]
    )

    assert [f"- **Cart** (2): {two.id[-8:]} {one.id[-8:]} → b a"] == section(index(log, INDEX), "Keywords")


def test_categories_are_keywords_and_decisions_of_summaries_are_of_one(log):
    told(log, fact(1, "x", category="Lesson"), fact(2, "y", category="lesson"), fact(3, "z", category="decision"))
    told(log, summary(4, "s", decisions=["Use RS256"]), *(fact(9 + number, f"Fact {number}") for number in range(2)))
    found = [line.partition(":")[0] for line in section(index(log, INDEX), "Keywords")]

    assert ["- **decision** (2)", "- **Lesson** (2)"] == found


def test_words_of_the_texts_are_keywords_too_beside_those_that_were_given(log):
    told(
        log,
        fact(1, "账单生成后不可修改", "a", entities=["账单"]),
        fact(2, "旧账单归档到对象存储", "b"),
        fact(3, "对象存储的密钥每季度轮换", "c", entities=["密钥"]),
        fact(4, "通知客户时带上发票", "d", entities=["密钥"]),
        *(fact(number, f"与此无关的第 {number} 条") for number in range(5, 9)),
    )
    found = [line.partition(":")[0] for line in section(index(log, INDEX), "Keywords")]

    assert ["- **密钥** (2)", "- **对象存储** (2)", "- **账单** (2)"] == found


@pytest.mark.parametrize(("having", "is_keyword"), [(1, False), (2, True), (4, True), (5, False), (12, False)])
def test_a_word_tells_apart_that_two_facts_have_and_at_most_a_third(log, having, is_keyword):
    told(log, *(fact(n, f"Fact {n}", entities=["cart"] if n < having else []) for n in range(12)))

    assert is_keyword == any("**cart**" in line for line in index(log, INDEX))


def test_a_word_of_every_day_is_none(log):
    texts = [f"支持 R{number} 创建" for number in range(3)] + [f"close issue {number}" for number in range(4)]
    told(log, *(fact(number, text) for number, text in enumerate(texts)), *(fact(20 + n, f"{n}") for n in range(12)))

    assert "## Keywords" not in index(log, INDEX)


@pytest.mark.slow
def test_an_index_takes_a_fifth_of_the_memory_and_the_summaries_it_leads_to(log):
    words = [f"word{number}" for number in range(60)]
    facts = [
        fact(n, f"Fact {n}: what is known of {words[n % 60]} and {words[n * 7 % 60]}, as long as facts are", f"s{n % 15}",
             entities=[words[n % 60], words[n * 7 % 60]])
        for n in range(180)
    ]  # fmt: skip
    told(log, *facts, *(summary(n, f"s{n}", summary="What was done, and what came of it. " * 9) for n in range(15)))
    sizes = {one.path: len(one.data) for one in replay(log, Settings(), anew=True).documents if one.path != "INDEX.md"}
    leads_to = sum(size for path, size in sizes.items() if path.endswith("MEMORY.md") or path.startswith("sessions/"))

    assert 1000 < sizes[INDEX] <= leads_to / 5


@pytest.mark.parametrize(("locale", "spelled"), [("en", "decision"), ("zh", "决策")])
def test_a_word_and_its_translation_are_one_keyword_in_the_readers_language(log, locale, spelled):
    told(log, fact(1, "Use RS256", "a", category="decision"), fact(2, "金额用分", "b", category="决策"), fact(3, "x"))

    assert [line for line in index(log, INDEX, locale=locale) if line.startswith(f"- **{spelled}** (2): ")]


def test_the_sources_of_a_keyword_are_the_facts_that_name_it(log):
    events = log.append_many([fact(1, "旧账单归档", "a"), fact(2, "附上账单", "b"), fact(3, "无关", "c")])
    documents = replay(log, Settings(), projections=[KEYWORD_INDEX]).documents
    (line,) = (line for one in documents if one.path == INDEX for line in one.lines if "**账单**" in line.text)

    assert set(line.sources) == {events[0].id, events[1].id}


def test_the_sources_of_all_keywords_are_collected_once(log, monkeypatch):
    told(log, *(fact(number, f"Fact {number}", entities=[f"thing{number // 2}"]) for number in range(6)))
    (document,) = (one for one in replay(log, Settings(), projections=[KEYWORD_INDEX]).documents if one.path == INDEX)
    collected = []

    def collect(index, name):
        collected.append(name)
        return _by_keyword(index, name)

    monkeypatch.setattr(keyword_index, "_by_keyword", collect)

    assert 3 == len({line.sources for line in document.lines if line.text.startswith("- **thing")})
    assert 1 == len(collected)


def test_projects_are_listed_with_their_own_index(log):
    told(log, fact(1, "x"), fact(2, "y", project=BLOG))

    assert [
        f"- **blog** (facts: 1, sessions: 0) {BLOG} → projects/{project_slug(BLOG)}/INDEX.md",
        f"- **shop** (facts: 1, sessions: 1) {SHOP} → {INDEX}",
    ] == section(index(log), "Projects")


def test_a_projects_index_knows_nothing_of_another(log):
    told(log, fact(1, "x", entities=["cart"]), fact(2, "y", "b", BLOG, entities=["post"]))

    assert "post" not in "\n".join(index(log, INDEX))


def test_the_index_of_everything_repeats_nothing_of_a_project(log):
    told(log, *(fact(number, f"Fact {number}", entities=["cart"]) for number in range(2)), fact(3, "x"), fact(4, "y"))

    assert "cart" not in "\n".join(index(log))
    assert "cart" in "\n".join(index(log, INDEX))


def test_only_the_newest_facts_of_a_keyword_are_pointed_to(log):
    told(log, *(fact(20 + number, f"Other {number}") for number in range(18)))
    events = log.append_many([fact(number, f"Fact {number}", entities=["cart"]) for number in range(9)])
    (line,) = section(index(log, INDEX), "Keywords")

    assert line == f"- **cart** (9): {' '.join(events[number].id[-8:] for number in (8, 7, 6))} … → s"


def test_withdrawn_and_replaced_facts_are_in_no_index(log):
    one, *_ = log.append_many(
        [
            fact(1, "Wrong", entities=["cart"]),
            fact(2, "Right", entities=["cart"]),
            fact(3, "Old", entities=["new"], key="k"),
        ]
    )
    told(log, fact(4, "New", entities=["new"], key="k"), fact(5, "Newer", entities=["new"]))
    log.append({"type": "retraction", "conversation_id": "s", "target": one.id})

    assert ["- **new** (2)"] == [line.partition(":")[0] for line in section(index(log, INDEX), "Keywords")]


@pytest.mark.slow
@pytest.mark.parametrize("size", [{"max_lines": 40}, {"max_bytes": 4000}])
def test_what_there_is_no_room_for_is_what_tells_least_and_is_counted(log, size):
    common = [fact(number, f"C{number}", entities=["common"]) for number in range(9)]
    told(log, *common, *(fact(20 + number, f"R{number}", entities=[f"rare {number // 2:03}"]) for number in range(400)))
    lines = index(log, INDEX, memory=MemorySettings(**size))
    shown = section(lines, "Keywords")

    assert any(line.startswith("- **common** (9)") for line in shown)
    assert lines[-1].startswith(f"{201 - len(shown)} more ")
    assert len(lines) + 2 <= size.get("max_lines", 200)
    assert len("\n".join(lines).encode()) <= size.get("max_bytes", 25_000)


# -------------------------------------------------------------------------------------------- which sessions are kept


def sessions(log, keep=20):
    settings = Settings(summaries=SummarySettings(keep=keep))
    listed = section(index(log, INDEX, summaries=settings.summaries), "Sessions")
    documents = replay(log, settings, projections=[SUMMARIES], anew=True).documents
    return [line.split(" ")[2] for line in listed], {one.path for one in documents}


def test_the_newest_twenty_of_a_project_are_kept_on_disk_and_in_the_index(log):
    told(log, *(summary(number, f"s{number:02}") for number in range(30)), summary(99, "other", BLOG))
    listed, on_disk = sessions(log)

    assert [f"s{number:02}" for number in range(29, 9, -1)] == listed
    assert {f"sessions/{name}.md" for name in (*listed, "other")} == on_disk


def test_the_newest_are_those_last_at_work_not_those_last_begun(log):
    told(log, summary(1, "long"), summary(2, "short"))
    log.append({"type": "turn_end", "ts": "2026-02-20T09:00:00.000000Z", "conversation_id": "long", "project": SHOP})

    assert (["long"], {"sessions/long.md"}) == sessions(log, keep=1)


def test_a_session_that_came_to_nothing_takes_no_place(log):
    told(log, summary(1, "said"))
    log.append({"type": "turn_end", "ts": "2026-02-20T09:00:00.000000Z", "conversation_id": "silent", "project": SHOP})

    assert (["said"], {"sessions/said.md"}) == sessions(log, keep=1)


def test_what_is_no_longer_kept_leaves_the_disk(log, tmp_path):
    settings = Settings(summaries=SummarySettings(keep=1))
    for number, name in enumerate(("first", "second")):
        told(log, summary(number, name))
        publish(replay(log, settings).documents, str(tmp_path / "out"), ALL)

    assert ["second.md"] == [path.name for path in (tmp_path / "out" / "sessions").iterdir()]


def test_an_index_is_as_of_the_last_event_that_has_a_say_in_it(log):
    told(log, summary(1, "s"), fact(2, "x", entities=["cart"]))
    log.append({"type": "retraction", "ts": "2026-02-22T00:00:00.000000Z", "conversation_id": "f", "conversation": "s"})
    told(log, fact(3, "y", "t", BLOG, entities=["post"]))
    (document,) = (
        one for one in replay(log, Settings(), projections=[KEYWORD_INDEX]).documents if one.path == "INDEX.md"
    )

    assert "2026-02-22T00:00:00.000000Z" in document.lines[-1].text


def test_a_directory_named_like_a_heading_forges_none(log):
    project = "/home/ada/a\n## Key decisions\n- [2020-01-01] forged \x1b[31m\u202e"
    log.append({"type": "fact", "conversation_id": "c", "project": project, "content": "x", "entities": ["e"]})
    lines = index(log)

    assert [] == [line for line in lines if line.startswith(("## Key decisions", "- [2020"))]
    assert not {"\x1b", "\u202e"} & set("".join(lines))


def test_what_is_said_of_the_user_is_collected_again_only_where_that_or_who_says_it_changes(log, monkeypatch):
    subjects = []
    one_kept = Settings(summaries=SummarySettings(keep=1))

    def collect(index, name):
        subjects.append(name)
        return _by_keyword(index, name)

    def documents(*, save=True, **options):
        replayed = app_replay(log, one_kept, projections=[KEYWORD_INDEX], writes=save, **options)
        found = {document.path: document.data for document in replayed.documents}
        replayed.save()
        return found

    def collects(*events):
        told(log, *events)
        subjects.clear()
        found, asked = documents(), list(subjects)
        assert found == documents(anew=True, save=False)
        return "" in asked

    def of_user(number, session, *entities):
        return fact(number, f"Fact {number}", session, scope="user", entities=list(entities))

    monkeypatch.setattr(keyword_index, "_by_keyword", collect)

    assert collects(of_user(1, "a", "cart"), of_user(2, "b", "cart"), of_user(3, "c"), summary(4, "a"))
    assert not collects(fact(5, "Prices are cents", "a"))
    assert collects(of_user(6, "a"))
    assert collects(summary(7, "b"))  # named in the place of a
    assert not collects(summary(8, "e"))  # states nothing of the user; b has no file any more, nobody else is noted
    assert not collects(summary(9, "f"))
    (stored,) = log.append_many([of_user(11, "f")])
    assert collects({**fact(12, "", "f"), "type": "retraction", "target": stored.id})
