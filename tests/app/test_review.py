"""What a person should look at: entries that wait, lines that contradict, are old, or are repeated most; decided one by one."""

import json

import pytest

from eventlog.app.ask.review import review
from eventlog.app.build.rebuild import replay_store
from eventlog.format import timestamps
from eventlog.format.events import HUMAN, Fact
from eventlog.log.event_log import EventLog
from eventlog.store import project_slug
from tests.support.bases import planned
from tests.support.command_line import call, on_a_terminal
from tests.support.golden import tree
from tests.support.use_cases import opened

SHOP, BARN = "/p/shop", "/p/barn"
DAY = 86_400 * 10**9


def said(log, content, days_ago, project=SHOP, times=1):
    now = timestamps.system_clock()
    for number in range(times):
        ts = timestamps.from_ns(now - days_ago * DAY - number * 10**9)
        log.append(Fact(ts=ts, conversation_id=f"s{number}", project=project, agent="codex", content=content))


@pytest.fixture
def log(tmp_path, home, made_once):
    """A memory with a contradiction, a line nobody said for long, one said often, and others."""
    return made_once(_lived_in, EventLog(tmp_path / "store", fsync=False))


def _lived_in(log):
    said(log, "The shop listens on port 8443", 30)
    said(log, "The shop listens on port 9443", 2)
    said(log, "Redis is the queue", 90)
    said(log, "Invoices are immutable", 3, times=7)
    said(log, "Carts are blue", 4, times=2)
    said(log, "Barns are old", 90, BARN)
    replay_store(opened(log))


def lines(log):
    text = tree(log.store.knowledge)[f"projects/{project_slug(SHOP)}/MEMORY.md"].decode()
    return [line.partition("] ")[2] for line in text.split("\n") if line.startswith("- ")]


def test_it_finds_the_contradiction_the_old_and_the_repeated_each_once(log):
    found = review(opened(log), SHOP)

    assert [(line.concern, line.text, line.against) for line in found[1]] == [
        ("contradicts", "The shop listens on port 9443", ("The shop listens on port 8443",)),
        ("old", "Redis is the queue", ()),
        ("repeated", "Invoices are immutable", ()),
    ]
    assert found[1][2].times == 7
    for line in found[1]:
        file, _, number = line.place.rpartition(":")
        assert line.text in tree(log.store.knowledge)[file].decode().split("\n")[int(number) - 1]


REPLACED = {
    "Sessions now live in Postgres, Redis is gone": "We use Redis for sessions",
    "Bounces arrive by webhook, the cron job that polled them was removed": "A cron job polls bounces",
    "The limit of uploads was raised to 50 MB by the proxy's owner": "Uploads have a limit of 20 MB at the proxy",
    "Das Treffen der Prüfer wurde auf Dienstag verschoben": "Das Treffen der Prüfer ist am Montag um zehn",
    "O prazo da revisão passou para 13 de novembro": "O prazo da revisão é 30 de outubro",
    "La réunion des relecteurs est repoussée au mardi": "La réunion des relecteurs est le lundi",
    "Messwerte liegen in TimescaleDB statt in InfluxDB": "Messwerte speichern wir in InfluxDB",
    "订单服务改用 Kafka 发送消息": "订单服务使用 RabbitMQ 发送消息",
    "Les journaux ne sont plus écrits en flash, ils partent par LoRa": "Les journaux sont écrits en flash par LittleFS",
    "Los diálogos ya no usan Yarn Spinner": "Los diálogos se escriben en Yarn Spinner",
    "Os dados de treino já não vêm do BigQuery": "Os dados de treino vêm do BigQuery",
    "Le ricette usano SwiftData, CoreData è stato rimosso": "Le ricette usano CoreData",
    "Котировки больше не хранятся в ClickHouse": "Котировки хранятся в ClickHouse по дням",
    "지도 타일은 더 이상 Mapbox가 아니라 다른 곳에서 받는다": "지도 타일은 Mapbox에서 받는다",
    "セーブデータはJSONではなくMessagePackで保存する": "セーブデータはJSONで保存する",
    "Deploys go out on Tuesdays": "Deploys go out on Fridays",
    "Der Freigabetag ist Donnerstag": "Der Freigabetag ist Montag",
    "每周二发布": "每周五发布",
    "The message broker is Kafka": "The message broker is RabbitMQ",
}


@pytest.mark.slow
@pytest.mark.parametrize("newer", REPLACED)
def test_a_decision_that_speaks_of_a_change_is_shown_with_the_one_it_replaces_and_that_only_once(log, newer):
    said(log, REPLACED[newer], 80)
    said(log, newer, 5)

    found = [(line.concern, line.text, line.against) for line in review(opened(log), SHOP)[1]]

    assert ("contradicts", newer, (REPLACED[newer],)) in found
    assert REPLACED[newer] not in [text for _, text, _ in found]


@pytest.mark.slow
@pytest.mark.parametrize("newer", REPLACED)
def test_the_newer_stands_first_also_where_the_older_was_said_more_often(log, newer):
    said(log, REPLACED[newer], 80, times=3)
    said(log, newer, 5)
    replay_store(opened(log))

    shown = lines(log)

    assert shown.index(newer) == shown.index(REPLACED[newer]) - 1


def test_a_fact_with_a_key_contradicts_what_was_said_without_one_and_no_other_with_a_key(log):
    for number, (content, key) in enumerate(
        {"The bus is RabbitMQ": None, "The bus is Kafka": "bus", "The bus is NATS 2": "old"}.items()
    ):
        log.append(Fact(conversation_id=f"s{number}", project=SHOP, agent="codex", content=content, key=key))

    found = [(line.text, line.against) for line in review(opened(log), SHOP)[1] if "bus" in line.text]

    assert found == [("The bus is Kafka", ("The bus is RabbitMQ",))]


def test_of_two_that_differ_in_a_number_the_newer_stands_first(log):
    said(log, "The shop listens on port 8443", 31, times=3)
    replay_store(opened(log))

    shown = lines(log)

    assert shown.index("The shop listens on port 9443") == shown.index("The shop listens on port 8443") - 1


def test_of_a_decision_that_changed_twice_all_are_shown_at_once_the_newest_first(log):
    wordings = (
        "Sessions live in Redis",
        "Sessions live in Postgres instead of Redis",
        "Sessions moved, Postgres is gone",
    )
    for wording, days_ago in zip(wordings, (80, 40, 5), strict=True):
        said(log, wording, days_ago)

    found = [(line.text, line.against) for line in review(opened(log), SHOP)[1] if "Sessions" in line.text]

    assert found == [(wordings[2], (wordings[1], wordings[0]))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Redis is the rate limiter of the public API", "Sessions now live in Postgres, Redis is gone"),
        ("Orders have an index on customer", "Orders are never deleted, only cancelled"),
        ("Use ruff instead of flake8", "Use pnpm instead of npm"),
        ("Nicht mehr als 100 Messwerte je Anfrage", "Messwerte werden nicht mehr gerundet"),
        ("回调必须验签", "支付回调改成推送"),
    ],
)
def test_decisions_about_different_things_do_not_contradict(log, older, newer):
    said(log, older, 30)
    said(log, newer, 5)

    assert newer not in [line.text for line in review(opened(log), SHOP)[1]]


def test_all_projects_are_looked_through(log):
    assert ("old", "Barns are old") in [(line.concern, line.text) for line in review(opened(log))[1]]


def test_in_a_pipe_it_is_a_list(log):
    ran = call("review", "--project", "shop", "--store", log.store.root)

    assert [line.split("\t")[0] for line in ran.out.splitlines()] == ["contradicts", "old", "repeated"]
    found = json.loads(call("review", "--project", "shop", "--json", "--store", log.store.root).out)
    assert (found["waiting"], len(found["lines"])) == ([], 3)


def test_an_empty_list_is_said_to_be_empty_in_a_pipe_too(tmp_path):
    assert "nothing to decide\n" == call("review", "--store", tmp_path).out


@pytest.mark.slow
def test_each_is_decided_on_a_terminal(log):
    """Keep the newer port, say the old line again, skip the last: three keys."""
    shown = on_a_terminal("review", "--project", "shop", "--store", log.store.root, typed="y\ny\ns\n")

    assert "2 decisions of 3" in shown, shown
    assert "The shop listens on port 8443" not in lines(log)
    assert "The shop listens on port 9443" in lines(log)
    again = [event for event in log.read() if isinstance(event, Fact) and event.agent == HUMAN]
    assert [event.content for event in again] == ["Redis is the queue"]
    assert [line.concern for line in review(opened(log), SHOP)[1]] == ["repeated"]


@pytest.mark.slow
def test_a_line_is_forgotten_and_quit_ends_it(log):
    shown = on_a_terminal("review", "--project", "shop", "--store", log.store.root, typed="?\nskip\nn\nquit\n")

    assert "y keep the first" in shown
    assert "1 decision of 3" in shown
    assert "Redis is the queue" not in lines(log)
    assert "Invoices are immutable" in lines(log)


def test_what_waits_comes_first(log, home):
    (home / ".config" / "agents").mkdir(parents=True)
    (home / ".config" / "agents" / "SOUL.md").write_text("# Soul\n\n## Tone\n\nBe brief.\n")
    planned(log, "Tone", "Be kind.", path="soul")
    replay_store(opened(log))

    ran = call("review", "--project", "shop", "--store", log.store.root)

    assert ran.out.splitlines()[0].split("\t")[0] == "waits", ran
