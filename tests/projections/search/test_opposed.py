"""Which of two texts opposes the other: another value in the same frame does, what stands in a list or a table does not."""

import pytest

from eventlog.format.text import differing_in_a_number
from eventlog.projections.search.opposed import _CHANGES, _change_in, opposed

CORRECTIONS = {
    "The port is 9443": "The port is 9999",
    "Release 1.5 goes out on 20 November": "Release 1.5 goes out on 4 December",
    "The freeze begins Nov 20": "The freeze begins Dec 4",
    "Der Mietvertrag endet am 20. November": "Der Mietvertrag endet am 4. März",
    "Deploys go out on Fridays": "Deploys go out on Tuesdays",
    "Deploys went out on Fridays .": "Deploys went out on Tuesdays",
    "Deploys gehen freitags raus": "Deploys gehen dienstags raus",
    "每周五发布": "每周二发布",
    "端口是 9443": "端口是 9999",
    "The message broker is RabbitMQ": "The message broker is Kafka",
    "Die Warteschlange ist RabbitMQ": "Die Warteschlange ist Kafka",
    "消息队列是 RabbitMQ": "消息队列是 Kafka",
    "The default branch is main": "The default branch is trunk",
    "The release manager is Ana": "The release manager is Ben",
    "Nightly builds are enabled": "Nightly builds are disabled",
    "Secrets live in Vault": "Secrets live in SSM",
    "The CI runs on Jenkins": "The CI runs on Buildkite",
    "部署在周五进行": "部署在周二进行",
    "Der Freigabetag ist Montag": "Der Freigabetag ist Donnerstag",
    "Orders are archived": "Orders are not archived",
    "发票修改": "发票不修改",
}
BESIDE_EACH_OTHER = """
Billing listens on port 8443
Shipping listens on port 8444
Search listens on port 8445
Gateway timeout is 30 seconds
Catalog timeout is 45 seconds
The API supports JSON
The API supports XML
We use ruff for linting
We use mypy for types
Tests live in tests/unit
Tests live in tests/e2e
Ana owns billing
Ben owns shipping
The owner of search is Carla
The owner of catalog is Dmitri
Invoices are immutable
Invoices are numbered per year
The queue is durable
The user prefers dark mode
The user prefers short answers
The user likes tea
Redis is the cache of the cart
Postgres is the database of orders
ClickHouse is the database of events
Handlers live in src/handlers
Models live in src/models
Views live in src/views
Backups run on Sundays
Retros happen on Fridays
Standup is at 09:30
Release 1.4 goes out on 15 October
Ana may take 4 days off
Planning is at 10:00 on Mondays
Staging runs on Hetzner
Production runs on AWS
Metrics go to Prometheus
Logs go to Loki
Traces go to Tempo
The staging bucket is acme-staging
The production bucket is acme-prod
Feature flags are read at start
Feature flags are stored in Consul
Carts expire after 7 days
Sessions expire after 30 minutes
Tokens expire after 15 minutes
Emails are sent by Postmark
SMS are sent by Twilio
Run make lint before a commit
Run make test before a push
Prices are integers in cents
Weights are integers in grams
The frontend is written in TypeScript
The backend is written in Go
The worker is written in Rust
Rates are cached for an hour
Tests of the cart need Docker
Tests of the search need Elasticsearch
Never edit generated files
Never commit secrets
Errors are logged as JSON
Timestamps are stored in UTC
The user works in Berlin
Der Build läuft auf Linux
Der Build braucht Node 20
Die Tests laufen auf macOS
Releases werden signiert
Releases werden getaggt
Die API ist intern
Die Doku ist auf Deutsch
订单服务监听 8080 端口
支付服务监听 8081 端口
库存服务监听 8082 端口
前端使用 React
前端使用 Vite
缓存放在 Redis 里
日志放在 Loki 里
负责支付的是王芳
负责库存的是李雷
发票不可修改
发票按年编号
The linter is ruff
The formatter is ruff
The runner is pytest
The main branch is protected
The main branch is deployed automatically
Use tabs in Makefiles
Use spaces in Python
Admins may delete users
Admins may delete orders
Docs are written in Markdown
"""


def test_of_two_values_in_one_frame_the_newer_opposes_the_older_and_nothing_else_does():
    texts = [*CORRECTIONS.values(), *BESIDE_EACH_OTHER.strip().split("\n"), *CORRECTIONS]

    found = opposed(texts, differing_in_a_number(texts))

    assert {(older, newer) for newer, olds in found.items() for older in olds} == {*CORRECTIONS.items()}


def test_three_values_in_one_frame_are_a_list():
    assert not opposed([f"The shop is open on {day}" for day in ("Fridays", "Mondays", "Tuesdays")], ())


@pytest.mark.parametrize(
    "said", [*("".join(part.rstrip(" ") for part in parts) for parts in _CHANGES[0]), *_CHANGES[1]]
)
def test_a_change_is_heard_in_any_case_and_between_any_signs(said):
    assert _change_in(f"The port,{said.replace(' ', '  ')}: 9443") == _change_in(f"THE PORT{said.upper()} 9443") != ""


def test_what_speaks_of_no_change_is_heard_as_none():
    assert _change_in("The nowhere port replays a removal, isout 8443") == ""
