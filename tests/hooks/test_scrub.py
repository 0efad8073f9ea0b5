"""What the hook never keeps, and how it is switched off."""

import pytest

from eventlog.hooks.record import bounded
from tests.support.golden import tree
from tests.support.hook_calls import events_of, tell
from tests.support.payloads import claude, cursor, data
from tests.support.repositories import git, repository
from tests.support.work import lines_run

QUIET = claude("PostToolUse", tool_name="Bash", tool_use_id="t-9")


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


# ------------------------------------------------------------------------------------------------ what is never kept

SECRETS = [
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "glpat-" + "a1B2" * 5,
    "xoxb-" + "1234567890-abcdef",
    "sk-ant-" + "a1B2" * 10,
    "sk-proj-" + "a1B2" * 10,
    "AIza" + "a1B2c" * 7,
    "npm_" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.slow
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:10])
@pytest.mark.parametrize("place", ["tool_input", "key", "error", "garbage"])
def test_a_secret_never_reaches_the_disk(store, secret, place):
    payload = {
        "tool_input": claude("PreToolUse", tool_use_id="t", tool_input={"command": [f"curl -H '{secret}' x"]}),
        "key": claude("PreToolUse", tool_use_id="t", env={f"a {secret} b": 1}),
        "error": cursor("sessionEnd", reason="error", error_message=f"no: {secret}"),
        "garbage": ("x" * 4085 + " " + secret).encode(),
    }[place]
    tell(store, payload)
    kept = b"".join(tree(store).values())

    assert kept
    assert secret.split("\n")[-1][:11].encode() not in kept
    assert b"MIIE" not in kept


def test_a_password_in_an_address_is_scrubbed_and_the_address_kept(store):
    tell(store, claude("PreToolUse", tool_use_id="t", tool_input="git clone https://ada:hunter2@example.org/x.git"))
    (event,) = events_of(store)

    assert "git clone https://[secret:password]@example.org/x.git" == event.payload["tool_input"]


@pytest.mark.parametrize(
    "sent", [data(cursor("afterFileEdit")), data(cursor("stop")) + b"oops"], ids=["recorded", "unreadable"]
)
def test_the_users_address_is_never_kept(store, sent):
    tell(store, sent)
    kept = b"".join(tree(store).values())

    assert b"c0de" in kept
    assert b"ada@example.org" not in kept


# ------------------------------------------------------------------------------------------------ off


@pytest.mark.slow
@pytest.mark.parametrize(
    "of_size",
    [
        lambda size: {"tool_response": "token=" * size},
        lambda size: {"tool_response": ["token=1"] * size},
        lambda size: {"tool_response": {f"token{10**9 + number}": "token=1" for number in range(size)}},
        lambda size: {f"token{10**9 + number}": "token=1" for number in range(size)},
    ],
    ids=["text", "list", "object", "payload"],
)
def test_what_is_not_kept_is_not_searched(of_size):
    def work(size):
        payload = of_size(size)
        return lines_run(lambda: bounded(payload))

    for size in (1_000, 50_000):  # what is compiled once, and texts known to be clean
        work(size)
    assert work(1_000) == work(50_000)


def test_disabled_by_the_environment_nothing_is_written(store):
    assert b"{}" == tell(store, cursor("stop"), "--agent", "cursor", EVENTLOG_DISABLED="1")
    assert not store.exists()


@pytest.mark.parametrize("no", ["", "0", "false", "False", "no", "off", " OFF "])
def test_a_variable_that_says_no_disables_nothing(store, no):
    tell(store, QUIET, EVENTLOG_DISABLED=no)

    assert 1 == len(events_of(store))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["repo", "tree", "tree/src"])
def test_disabled_by_a_file_in_the_project_or_its_worktree_nothing_is_written(store, tmp_path, place):
    git(repository(tmp_path / "repo"), "worktree", "add", tmp_path / "tree")
    (tmp_path / "tree" / "src").mkdir()
    (tmp_path / place / ".eventlog-disable").touch()
    tell(store, {**QUIET, "cwd": str(tmp_path / "tree" / "src")})

    assert not store.exists()
