"""Credentials never reach the disk, by no way in; ordinary text stays as it is."""

import inspect
import json
import re
import subprocess
from functools import cache

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from eventlog.app.write.record_once import record_once
from eventlog.format.codec import from_fields, to_fields
from eventlog.format.errors import NotStored
from eventlog.hooks import error_log
from eventlog.hosts.transcripts import read
from eventlog.hosts.transcripts.draw import draw
from eventlog.log.event_log import EventLog
from eventlog.secrets import patterns, scrub, scrub_beginning, scrub_text, secrets_in
from eventlog.secrets.find import _MIN_TOKEN, find
from eventlog.secrets.plain import MIN_RANDOM, is_plain
from eventlog.store import Store, spool
from tests.support.credentials import SAMPLES, sample
from tests.support.effort import tried
from tests.support.golden import tree
from tests.support.hook_calls import events_of, tell
from tests.support.payloads import claude
from tests.support.tree import ROOT
from tests.support.work import lines_run


def kinds_that(fails):
    """The kinds of which this is true: a test looks at all of them, as a case of its own costs more than a look."""
    tried(len(SAMPLES))
    return [kind for kind in SAMPLES if fails(*sample(kind))]


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


HIDDEN = "Zq8vLm2wXk9"
_GIVEN = {
    "=": "{0} x pin={1}", "@": "{0} ada/{1}@db", "|": "echo 'ada:{1}' | {0}", "-b 3": "{0} -b file ada {1}",
    "-b=": "{0} -b session={1}{1} x", "1:": "{0} ada:{1} x", "1/user:": "{0} Z: \\\\host\\share {1} /user:ada",
    "1 -AsPlainText": '{0} "{1}" -AsPlainText', "1assw": "{0} {1}", "2ass": "{0} ada {1}",
    "2(": '{0}("ada", "{1}")', "3(": '{0}(url, "ada", "{1}")',
}  # fmt: skip


def calls(how, program):
    """Write a program that is given the password so, as `patterns.py` names the ways; in a list of arguments, too."""
    if how in _GIVEN:
        return [_GIVEN[how].format(program, HIDDEN)]
    option = how.removesuffix("…") if how[-1] == "…" else how.rstrip(":% ")
    if how[-1] == "…":
        return [f"{program} -x {option}{HIDDEN} y", f"['{program}', '{option}{HIDDEN}', 'y']"]
    login = f"ada{how[-1]}{HIDDEN}" if how[-1] in ":%" else HIDDEN
    return [f"{program} -x {option} {login}", f'["{program}", "-x", "{option}", "{login}"]']


def left(directory):
    """The kinds of which something is on the disk; none where nothing is there that says so."""
    kept = b"".join(tree(directory).values())
    assert kept.count(b"[secret:") >= len(SAMPLES) / 2
    return [kind for kind in SAMPLES if sample(kind)[1][-12:].encode() in kept]


# ------------------------------------------------------------------------------------------------ what is found


@pytest.mark.slow
@pytest.mark.parametrize("around", ["{}", "see {} there", '"{}"', "a\n{}\nb", '{{"out": "a\\n{}\\nb"}}', "令牌：{}。"])
def test_every_kind_is_replaced_by_its_name_wherever_it_stands(around):
    def stays(text, secret):
        scrubbed = scrub_text(around.format(text))
        return "[secret:" not in scrubbed or secret in scrubbed or secret[-12:] in scrubbed

    assert [] == kinds_that(stays)


@pytest.mark.slow
@pytest.mark.parametrize(
    "around", ["\x1b[1;32m{}\x1b[0m", "out: \\u001b[32m{}\\u001b[0m", "a\\u0026{}", "\u200b{}\u200b"]
)
def test_colours_of_a_terminal_and_escapes_beside_it_hide_no_secret(around):
    assert [] == kinds_that(lambda text, secret: secret[-12:] in scrub_text(around.format(text)))


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\x00", "\x1b[m\x1b[K"])
def test_what_nobody_sees_within_it_hides_no_secret(hidden):
    text, secret = sample("GitHub p")

    scrubbed = scrub_text(f"see\n{text.replace(secret, secret[:12] + hidden + secret[12:])}\nthere")

    assert scrubbed == "see\n[secret:github-token]\nthere"


@pytest.mark.parametrize("name", ["DD_API_KEY=", "export DB_PASSWORD=", "密码："])
def test_a_value_ends_where_a_chinese_sentence_goes_on(name):
    scrubbed = scrub_text(f"用{name}3f786850e387550fdab836ed7e6dc881登录。")

    assert "3f78" not in scrubbed
    assert scrubbed.endswith("]登录。")


@pytest.mark.parametrize(
    "form",
    ['DB_PASSWORD="{}"', "password: '{}'", '{{"password": "{}"}}', "DB_PASSWORD={}\nX=1",
     "  db_password: {}\n  x: 1", "db.password = {}"],
)  # fmt: skip
@pytest.mark.parametrize("password", ["A1&irXj1*CPSgSGYn!*D", "A13N6]tXD-KFAt^2J$dc", "x7;Kq(2|v<9Z"])
def test_a_generated_password_has_any_signs(form, password):
    scrubbed = scrub_text(form.format(password))

    assert form.format("[secret:password]") == scrubbed
    assert {"password": "[secret:password]"} == scrub({"password": password})


@pytest.mark.parametrize("end", ["</value>", "}", ");", ").", ">,"])
def test_what_is_around_a_value_without_quotes_stays(end):
    assert f"DbToken=[secret:token]{end}" == scrub_text(f"DbToken={SECRET_KEY}{end}")


@pytest.mark.parametrize(
    "text",
    ["'password' => 'required|string|min:8'", 'password: "^[A-Za-z0-9]{8,}$"', 'password = "${env:DB1_Pass}"',
     "PASSWORD=os.environ['X1Y']", "DB_PASSWORD=getSecret(Key1)", 'password="Enter 8 characters (A to Z)"',
     "https://git@example.org/ada/shop", "https://ada.lovelace@example.org/", "openssl enc -pass pass:$PASSWORD",
     "redis-cli -a $REDIS_PASSWORD ping", "az login -p <password>"],
)  # fmt: skip
def test_rules_calls_and_placeholders_of_passwords_stay(text):
    assert scrub_text(text) == text


def test_what_is_scrubbed_stays_as_it_is():
    assert [] == kinds_that(lambda text, _: scrub_text(scrub_text(text)) != scrub_text(text))


@given(st.text(alphabet="eyJ.-_=:/@ \nAKIASG", max_size=80) | st.text())
@example("token=[secret:token]")
def test_scrubbing_again_changes_nothing(text):
    scrubbed = scrub_text(text)

    assert scrubbed == scrub_text(scrubbed)


@given(st.text(st.sampled_from([*map(chr, range(33)), "x", "é", "\x7f", "\u3000", "第"]), max_size=60))
def test_a_text_is_plain_as_long_as_its_words_are_short_whatever_parts_them(text):
    assert is_plain(text) == all(len(word) < 16 for word in text.split())


def test_no_text_with_a_secret_is_plain():
    assert [] == kinds_that(lambda text, _: is_plain(text))


@pytest.mark.parametrize("odd", ["é", "中", "\ud800"])
def test_a_long_word_of_other_letters_is_not_plain_and_not_refused(odd):
    assert not is_plain("src/" * MIN_RANDOM + odd)
    assert is_plain(f"{odd} {'src/' * MIN_RANDOM}")


@pytest.mark.parametrize(
    "around", ["since 4f6ec4c7e9f5e2b8d41c0aa7 in {}", "/home/ada/src/{}", "test_of-{}.py", "`{}`, {}"]
)
def test_no_text_with_paths_and_hashes_is_plain_with_a_secret(around):
    def passes(text, _):
        whole = around.format(text, text)
        return is_plain(whole) and list(find(whole))

    assert [] == kinds_that(passes)


_PARTS = [beginning for _, some, *_ in patterns.TOKENS for beginning in some]
_PARTS += [middle for _, middle, *_ in patterns.AROUND] + [beginning for beginning, _ in patterns.MAINTAINED]
_RUNS = ["0123456789abcdef" * 3, "M" * 24, "ABCDEF", "Zz9" * 13, "a1B2c3D4", "path", "users", *"/._- 7é\udce9"]


@given(st.lists(st.sampled_from(_PARTS) | st.sampled_from(_RUNS), max_size=6).map("".join))
def test_what_is_plain_is_found_clean(text):
    assert not is_plain(text) or not list(find(text))


@pytest.mark.parametrize(
    "text",
    ["prices are in cents since 4f6ec4c7e9f5e2b8d41c0aa77c1b2d3e4f506172 in /home/ada/src/shop/cart/price.py",
     "(`tests/app/test_paths_of_users.py`), 01a207de-7711-788c-bb7f-bfaa5a3f03a8; github.com/ada/shop_of_prices"],
)  # fmt: skip
def test_paths_names_and_hashes_are_plain(text):
    assert is_plain(text)


def test_a_name_that_is_no_text_is_searched_as_it_is():
    text = "see /home/ada/src/shop/caf\udce9.py"

    assert not is_plain(text)
    assert text == scrub_text(text)


@pytest.mark.parametrize(
    "layout",
    ["| DB_PASSWORD | `{}` | of staging |", "│ password │ {} │", "-[ RECORD 1 ]---\nuser     | ada\npassword | {}",
     " user | password\n------+----------\n ada  | {}\n(1 row)", "user\tpassword\nada\t{}\n",
     "name,url,username,password\nshop,https://e.org,ada,{}\n", "DB_HOST\tdb\nDB_PASSWORD\t{}\n",
     "<th>Password</th>\n<td>{}</td>", "<key>dbPassword</key><string>{}</string>", "Password:\n```\n{}\n```",
     "**Password:**\n`{}`", "db_password: |-\n  {}\nx: 1", "args:\n  - --password\n  - {}\n",
     '"args": [\n  "--password",\n  "{}"\n]', "ID:   abc\n  password:                   {}\n",
     "port 6379\nrequirepass {}\n", "password: >-\n    {}\n"],
)  # fmt: skip
def test_a_value_beside_or_below_its_name_is_found_by_the_layout(layout):
    assert re.sub(r"\[secret:\w+\]", "{}", scrub_text(layout.format(HIDDEN))) == layout


@pytest.mark.parametrize(
    "text",
    ["| DB_PASSWORD | required | string |", "| password | varchar(255) |", "| Password | SHA256 | utf8mb4 |",
     "password:\n  type: string\n  minLength: 8", "Password:\n\nLogged in to db1",
     "password: |\n  {{ .Values.pw }}\n", "user,password,role\n", "  LOGIN_PASSWORD,\n  LOGIN_SHA2,\n",
     "cat password | sha256sum", "<th>Password</th><th>Address2</th>", "--proxy-tlspassword                  7.52.0",
     "<key>Password</key>\n<true/>", "add_argument('--password', default='')", '["--password", args.password1]',
     "kubectl create secret generic x --from-literal=url='postgres://db1/x' --from-file=key1", "unzip -p x.zip file1",
     "the ConvertTo-SecureString cmdlet of -AsPlainText", "echo $TOKEN | docker login -u ada --password-stdin",
     "cat pw1.txt | docker login --password-stdin", "net use Z: \\\\srv\\share1 /user:ada", "login('home1', 'index.html')",
     "SetBasicAuth(user1, pass1)", "CREATE USER ada IDENTIFIED BY 'password'", "a row is identified by 'user_id'",
     "DB_PASSWORD=op://vault/item1/password", "keytool -storepass:env KSPW1 -list", "rtmp://host/live/camera1",
     "System.Web, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089",
     '<bindingRedirect publicKeyToken="30ad4fe6b2a6aeed" culture="neutral" />', "sqlplus ada@db1 @script1.sql"],
)  # fmt: skip
def test_what_stands_beside_a_name_of_a_password_and_is_none_stays(text):
    assert text == scrub_text(text)


@pytest.mark.parametrize("key", ["abcd-9f8e-zq8v-lm2w-7kx9", "live_123456789_Zq8vLm2wXk9abcd"])
def test_the_key_of_a_stream_is_found_in_its_address(key):
    assert scrub_text(f"ffmpeg -f flv rtmp://a.example.org/live2/{key}") == (
        "ffmpeg -f flv rtmp://a.example.org/live2/[secret:stream-key]"
    )


def test_no_token_is_shorter_than_what_is_searched():
    lengths = [len(one) + least for _, some, _, least, _ in patterns.TOKENS for one in some]
    assert _MIN_TOKEN == min(lengths)


def test_every_name_of_a_credential_has_a_stem():
    names = (*patterns.PASSWORDS, "identified by", *(name for name, _ in patterns.NAMES))
    assert [] == [name for name in names if not any(stem in name for stem in patterns.STEMS)]


def test_every_token_that_is_shorter_than_a_long_word_is_known_by_sight():
    lengths = {one: len(one) + least for _, some, _, least, _ in patterns.TOKENS for one in some}
    short = [one for one, length in {**lengths, **dict(patterns.MAINTAINED)}.items() if length < MIN_RANDOM]
    assert short
    assert all(one.startswith(("xox", "xapp-")) for one in short)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [call for how, programs in patterns.COMMANDS for program in programs for call in calls(how, program)]
)
def test_every_command_that_takes_a_password_is_looked_for(text):
    assert HIDDEN not in scrub_text(text)


def test_the_text_around_a_secret_is_kept():
    text = sample("address")[0]

    assert "git clone https://[secret:password]@example.org/x.git now" == scrub_text(f"git clone {text} now")
    assert "id [secret:aws-access-key]." == scrub_text(f"id {sample('AWS key id')[0]}.")


@pytest.mark.slow
@pytest.mark.parametrize(
    "bomb", ["eyJaaaaaaaa-", "token=", "://a:", "T3BlbkFJ", "aaaaQ~", "AKIA", "-----BEGIN ", "0:", "a." * 12,
     "curl -u ", "mysql -p", 'token=["', "passwords=[[", "passwordsss", "Authorization: Basic a ", "token:a='",
     "Cookie: a=b ", "kind: Secret\na: ", "machine h login ", "a:5432:b:c:", "?key=", "jdbc:oracle:thin:a/", "htpasswd -b ",
     "otpauth://", "rtmp://a/b/c/", "sshpass -p ", *map("password".__add__, "|\t\n"), "echo a | chpasswd ",
     "vault kv put a=b ", "setPassword('", "</td><td>password", "sqlplus a/b ",
     "use password ", 'variable "password" {'],
)  # fmt: skip
def test_no_text_makes_the_search_long(bomb):
    """The lines of Python that are run, not a time: twice the text may cost twice as much and a little more."""

    def looks(size):
        return lines_run(lambda: scrub_text(bomb * (size // len(bomb))))

    assert looks(4_000) < 2.2 * looks(2_000) + 1000


def _key(size):
    """A key so long, of which little is left when it is replaced."""
    first, *_, last = sample("RSA key")[0].split("\n")
    return f"{first}\n{'M' * (size - len(first) - len(last) - 2)}\n{last}"


@given(st.sampled_from([*SAMPLES]), st.integers(260, 600), st.integers(-60, 60), st.sampled_from([" ", "é ", "\n"]))
@example("GitHub p", 300, -19, " ")
def test_where_a_text_is_cut_no_half_of_a_secret_is_left(kind, most, across, space):
    """A key before it takes up less room when it is replaced, which brings the end of what is searched into view."""
    key, (text, secret) = _key(most + 50), sample(kind)
    padding = "p" * (2 * most - len(key) - len(space) - across)
    kept = scrub_beginning(f"{key}{padding}{space}{text} and more {'x' * 1000}", most)

    assert len(kept) <= most
    assert secret[: max(6, len(secret) // 4)] not in kept.replace("hooks.slack", "")


@given(st.text(), st.integers(1, 40))
def test_of_a_text_without_secrets_the_beginning_is_as_long_as_asked(text, most):
    assume(scrub_text(text) == text)

    assert text[:most] == scrub_beginning(text, most)


SECRET_KEY, HUNTER = sample("KEY=")[1], sample("curl")[1]


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"password": [HUNTER]}, {"password": ["[secret:password]"]}),
        ({"a": [{"passwords": [[HUNTER], "b"]}]}, {"a": [{"passwords": [["[secret:password]"], "b"]}]}),
        ({"api_key": [SECRET_KEY, 1, None]}, {"api_key": ["[secret:api-key]", 1, None]}),
        ({"token": [{"id": HUNTER}]}, {"token": [{"id": HUNTER}]}),
        ({"words": [HUNTER]}, {"words": [HUNTER]}),
        ({"name": "db_password", "value": HUNTER}, {"name": "db_password", "value": "[secret:password]"}),
        ([{"key": "API_TOKEN", "value": [SECRET_KEY]}], [{"key": "API_TOKEN", "value": ["[secret:token]"]}]),
        ({"name": "words", "value": HUNTER}, {"name": "words", "value": HUNTER}),
        ({"Cookie": f"a=1; b={SECRET_KEY}"}, {"Cookie": "a=1; b=[secret:session-cookie]"}),
        ({"Authorization": f"Token {SECRET_KEY}"}, {"Authorization": "Token [secret:bearer-token]"}),
        ({"cookie": "a=1", "authorization": "none"}, {"cookie": "a=1", "authorization": "none"}),
    ],
)
def test_a_value_is_a_secret_by_the_name_around_or_beside_it(value, kept):
    assert kept == scrub(value)
    assert bool(list(secrets_in(value))) == (kept != value)


# ------------------------------------------------------------------------------------------------ what is not touched

ORDINARY = [
    "password: required, at least 8 characters",
    "def login(user: str, password: str) -> Token: ...",
    "password = get_password(user1)",
    "PASSWORD=$DB_PASSWORD_1",
    "token = request.headers['X-Token-1234567890ab']",
    "tokens: 128000, max_tokens=4096",
    "primary key: 019c7e1c-9a3a-7b1a-8c1a-2b1a3c4d5e6f",
    "commit 68b0b7f0a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "class sk-folding-cube task-force risk-assessment-of-2026-plans",
    "Basic authentication and Bearer token authentication",
    "https://example.org:8080/@scope/package ada@example.org",
    "OLDPWD=/home/ada/shop1 PWD=/home/ada/shop2",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "key=lambda entry: (entry.ts, entry.id)",
    "ran at 2026-02-21T08:35:44.123456Z on port 8443",
    "我们选择 RS256:密码在钥匙串里",
    "mkdir -p dir && cp -pr src1234 dir",
    "ssh -p2222 ada@example.org",
    "use curl -u to log in, or curl -u user:password; curl -u $USER:$TOKEN, curl --user <you>:<secret>",
    "curl https://example.org | docker run -u 1000:1000 -i alpine",
    "curl -o out.txt x\ndocker run --user 1000:1000 alpine",
    "mysql -p asks for it, mysql -pPASSWORD does not, nor does mysql -p$MYSQL_PASS or mysql -p'${PW}'",
    "docker run --name mysql -p3306:3306 mysql",
    "libcurl -u name:value2",
    """say "mysql -p" and "go", or 'mysqldump -p', 'curl -u', or "curl -u" "a:b" """,
    "Authorization: Basic authentication is off",
    "passwords = [read_password(1), words2[0], default_2]",
    "Password: [reset-page2](https://example.org/reset)",
    "tokens: ['a', 'b', 'three']",
    "the password is wrong, or required, and stored in 1Password",
    "the password is 1Password-managed, sha256 hashed, base64-encoded",
    "password is 8-character minimum, the password for user1 is wrong, a password reset is SHOP-12045",
    "the password is test_user1 of config.db.password1, in https://example.org/x1",
    "密码是必填的，密码是 8 位，密码是sha256加密的，密码错误时返回 error401",
    "Das Passwort ist mindestens 12-stellig; Passwort ist falsch",
    "first_pass: 0.982314, two_pass=120.50 and bypass: only2nd, pass: 128 of 130",
    "docker run -p 8080:80 web1; docker login asks; ssh -p 2222 h; sshpass -p $PW ssh h",
    "set the api_token to what the log says, then login ada password",
    "key: projects/shop-43da2c/sessions/0123abcd-4f6e/summary-2026-02-21.md",
    "fc-list kubectl.io/st.1 sk_buff re_compile sbp_flag vcp_ nfp_ cio1 dose32mg key_of_the_cache_4f6e",
    "node_modules/secret_handler_of_the_application/dist/index1.js and sqp_test_of_prices_in_cents",
    "the password field, value: required; name=token, value of 12 places",
    "Authorization: token is missing, Authorization: Bot commands only",
    "A value of 'x' for PASSWORD '', and SQL's PASSWORD 'x'",
    "tests/fixtures/pa-2026-02-21-of-all-sessions-and-their-ends.jsonl",
    'cookie:1,n:"a",t:6e4*(7186851+Math.floor(4925162)-Math.floor19701970)',
    "Cookie: theme=dark; lang=de; path=/docs/session-handling-v2; expires=Sat, 29 Nov 2026 10:00:00 GMT",
    "cookies = load_cookies(path_of_the_session_12), cookie: see docs/session-handling-v2-final.md",
    "main.go:543:12: undefined: load_2 in tests:5432:*:all, arn:aws:s3:*:ada:bucket1",
    "GET /search?key=price&code=404&page=12 and docs/?key=some-slug-of-a-page",
    "jdbc:oracle:thin:@db.example.org:1521:ORCL and jdbc:oracle:thin:ada/${PW}@db",
    "htpasswd -b file user password, or htpasswd -c file ada, which asks",
    "the machine learns, machine h login ada password $HIDDEN, a machine password reset",
    "password: authentication, password = passwordencoder, password: 'mysecretpassword'",
    "password: change-it-after-install, the password field is required",
    "kind: Secret\ndata:\n  password: {{ .Values.password | b64enc }}\n  kubernetes: included\n",
    'variable "db_password" {\n  type = string\n  default = ""\n}\nx = "value12"',
    "otpauth://totp/Shop:ada?issuer=Shop",
    "$password = Str::password(12);\npassword: Password1Encoder.encode(Value2),",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_whole(text):
    assert text == scrub_text(text)


@pytest.mark.slow
def test_nothing_in_this_repository_looks_like_a_secret():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    found = []
    for name in listed.stdout.split("\n"):
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and name not in SAYS_SO:
            text = path.read_text("utf-8", "replace")
            found += [f"{name}: {kind} {text[start:end]!r}" for start, end, kind in find(text)]

    assert [] == found


SAYS_SO = {
    "fixtures/secrets/gitleaks.json",
    "tests/app/test_erase_everywhere.py",
    "tests/app/test_redact.py",
    "tests/app/sync/test_nats_remote.py",
    "tests/cli/test_quick.py",
    "tests/hooks/test_scrub.py",
    "tests/log/test_encode.py",
    "tests/log/test_remote.py",
}  # samples, made up


@pytest.mark.slow
@given(st.data())
def test_what_detect_secrets_knows_is_known_here_too(data):
    """Its patterns, as far as they are of kinds we list; samples are made from them."""
    pattern = data.draw(st.sampled_from(_patterns()))
    made = data.draw(st.from_regex(re.compile(pattern), fullmatch=True, alphabet=st.characters(max_codepoint=126)))
    assume(len(made) >= 20)  # none is shorter

    assert "[secret:" in scrub_text(f"it is {made} ")


@cache
def _patterns():
    found = []
    for name, most in LISTED.items():
        module = pytest.importorskip(f"detect_secrets.plugins.{name}")
        for _, detector in inspect.getmembers(module, inspect.isclass):
            denied = getattr(detector, "denylist", ())
            found += [one.pattern for one in denied][:most] if detector.__module__ == module.__name__ else []
    return found


# the second of AWS asks for nothing but a name, anything, and 40 characters
LISTED = {
    **dict.fromkeys(("azure_storage_key", "discord", "github_token", "gitlab_token", "mailchimp", "openai"), 99),
    **dict.fromkeys(("pypi_token", "sendgrid", "slack", "stripe", "telegram_token", "twilio"), 99),
    "aws": 1,
}


# ------------------------------------------------------------------------------------------------ every way in


@pytest.mark.slow
def test_no_secret_reaches_the_disk_through_events_of_any_type(log):
    for text, _ in map(sample, SAMPLES):
        who = {"conversation_id": f"s {text}", "project": f"/home/{text}", "agent": text}
        entry = {"key": {"path": "user", "heading": text}, "content": text, "meta": {"reason": text}}
        log.append_many(
            [
                {**who, "type": "fact", "content": f"it is {text}", "entities": [text], "category": text, "key": text},
                {**who, "type": "stage_summary", "topic": text, "summary": text, "decisions": [text], "todos": [text]},
                {**who, "type": "plan_entry", **entry},
                {**who, "type": "session_end", "error": text, "note": {text: [text]}},
                {**who, "type": "something_new", "deep": [{"env": text}]},
            ]
        )

    assert [] == left(log.store.root)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["id", "cwd", "prompt", "tool"])
def test_no_secret_reaches_the_disk_through_a_hook(store, place):
    for number, (text, _) in enumerate(map(sample, SAMPLES)):
        output = "x" * 1960 + " " + text + "\n" + "y" * 9000
        payload = {
            "id": claude("Stop", session_id=f"s {text}"),
            "cwd": claude("Stop", cwd=f"/home/ada/{text}", prompt_id=str(number)),
            "prompt": claude("UserPromptSubmit", prompt=f"use {text}"),
            "tool": claude("PostToolUse", tool_use_id=str(number), tool_response={"stdout": output}),
        }[place]
        tell(store, payload)

    assert events_of(store)
    assert [] == left(store)


@pytest.mark.parametrize("name", ["PASSWORD", "db_password", "apiToken"])
def test_a_field_named_like_a_secret_keeps_none(store, name):
    secret = "hunter2" if "ass" in name.lower() else sample("Bearer")[1]
    tell(store, claude("PostToolUse", tool_use_id="t", tool_input={"env": {name: secret}}))

    (event,) = events_of(store)

    assert secret not in str(event.payload)
    assert "[secret:" in str(event.payload)


@pytest.mark.parametrize("place", ["tool_input", "prompt", "session", "cwd"])
def test_a_hook_leaves_no_half_of_a_secret_where_it_cuts(store, place):
    token = sample("GitHub p")[1]
    edge = {"session": 400, "cwd": 400}.get(place, 4_000)
    key = _key(edge - 200)
    text = f"{key}{'p' * (edge - len(key) - 20)} {token}{' and more' * 900}"
    payload = {
        "tool_input": claude("PostToolUse", tool_use_id="t", tool_input={"command": text}),
        "prompt": claude("UserPromptSubmit", prompt=text),
        "session": claude("Stop", session_id=text),
        "cwd": claude("Stop", cwd=f"/{text}"),
    }[place]
    tell(store, payload)

    assert events_of(store)
    assert token[:10].encode() not in b"".join(tree(store).values())


def test_a_secret_in_a_list_of_a_payload_is_known_by_the_name_of_the_list(store):
    tell(store, claude("PostToolUse", tool_use_id="t", tool_input={"password": [HUNTER, 7], "n": [HUNTER]}))
    (event,) = events_of(store)

    assert {"password": ["[secret:password]", 7], "n": [HUNTER]} == event.payload["tool_input"]


def test_no_secret_reaches_the_spool(store):
    for number, (text, _) in enumerate(map(sample, SAMPLES)):
        fields = {"type": "turn_end", "conversation_id": text, "project": f"/home/{text}", "status": text}
        spool.leave(Store(str(store)), fields, f"key{number}", None, number)

    assert [] == left(store)


def test_no_secret_reaches_the_note_of_a_failure(store):
    for text, _ in map(sample, SAMPLES):
        error_log.note(Store(str(store)), NotStored(f"no: {text}"), f"{{broken {text}".encode())
        error_log.note(Store(str(store)), NotStored("x"), {"type": "fact", "conversation_id": "c", "content": text})

    assert [] == left(store)


def test_the_note_of_a_failure_ends_with_no_half_of_a_secret(store):
    key, token = _key(6_000), sample("GitHub p")[1]
    lost = f"{key}{'p' * (8_192 - len(key) - 20)} {token}{' and more' * 900}"
    error_log.note(Store(str(store)), NotStored("x"), lost.encode())

    assert token[:10].encode() not in b"".join(tree(store).values())


@pytest.mark.slow
def test_no_secret_is_drawn_from_a_transcript_also_where_it_has_several_lines(tmp_path):
    path = tmp_path / "s-1.jsonl"

    def is_drawn(text, secret):
        path.write_text(_transcript_that_says(text))
        drawn = repr(draw(read.read_transcript("claude-code", str(path))))
        return "[secret:" not in drawn or secret in drawn or secret[-12:] in drawn

    assert [] == kinds_that(is_drawn)


def _transcript_that_says(text):
    command = {"type": "tool_use", "name": "Bash", "input": {"command": f"export X='{text}'\nmake"}}
    reply = {"type": "text", "text": f"Done.\nDecision: use {text}\nTODO: drop\n{text}"}
    said = [
        {"type": "user", "message": {"content": f"Please rotate this:\n{text}\nnow"}},
        {"type": "assistant", "message": {"content": [reply, command]}},
    ]
    return "".join(json.dumps(line) + "\n" for line in said * 3)


def test_the_same_import_twice_is_one_event_also_where_it_holds_a_secret(store):
    event = {
        "type": "fact", "conversation_id": "c", "ts": "2026-02-21T08:00:00.000000Z", "content": sample("Anthropic")[0],
    }  # fmt: skip
    other = {**event, "content": sample("OpenAI project")[0]}
    log = EventLog(store)

    assert [True, True] == [appended.new for appended in log.put([event, other])]
    assert [False, False] == [appended.new for appended in log.put([event, other])]


def test_the_same_fact_twice_is_said_once_also_where_it_holds_a_secret(store):
    fact = from_fields({"type": "fact", "conversation_id": "c", "content": f"it is {sample('Vault')[0]}"})
    log = EventLog(store)

    assert [True, False] == [record_once(log, fact).new, record_once(log, fact).new]


WIFI = f"wifi {sample('PASSWORD=')[0]}"


def test_what_a_person_wrote_into_a_knowledge_base_stays_theirs(store):
    """The log would take the line out of their file otherwise."""
    edited = {"type": "knowledge_edited", "conversation_id": "human", "key": {"path": "user", "heading": "A"}}
    stored = EventLog(store).put([{**edited, "content": WIFI}])[0].event

    assert WIFI == to_fields(stored)["content"]
