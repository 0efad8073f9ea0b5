"""Texts that cannot hold a credential, found by a look at their words; most are so, and hooks load no more than this.

`patterns.py` has what credentials look like, and `find.py` searches all other texts. At the end stands how parts of a
text, and texts of a JSON value, are replaced, whatever finds them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from eventlog.secrets.own_patterns import OwnPattern

MIN_RANDOM = 16  # characters of a generated value
HEX = "0123456789abcdef"
own: "list[OwnPattern]" = []  # patterns of the user
# the ends of all names, in lower case, that credentials are assigned to
_NAMES = ("word", "swd", "pwd", "pass", "phrase", "key", "key_id", "key_base", "secret", "token", "credential",
          "credentials", "auth", "wort", "密码", "密碼", "口令", "密钥", "令牌", "パスワード")  # fmt: skip
_PASSWORD_WORDS = ("：", "密码", "密碼", "口令", "パスワード", "ontraseña", "senha", "ароль", "hasło", "비밀번호")
# that take a password behind an option of one letter, no `-p`
_PROGRAMS = ("redis-cli", "ldap", "sqlcmd", "zip", "sudo -S", "SecureString", "security ", "gh secret", "smbclient",
             "ssh-keygen", "mosquitto_", "openssl enc")  # fmt: skip
_WORDS = b"x" * 9 + b" " * 5 + b"x" * 14 + b" " * 5 + b"x" * 223  # ASCII: what parts words, and all the rest
_LONG_WORD = b"x" * MIN_RANDOM
_HEX = HEX.encode()
_APART = bytes.maketrans(b"/._-`'\"()[]{},;!?", b" " * 17)  # what stands between the parts of names
_MIN_OF_THREE = 58  # characters of a token of three parts
_TWO_LETTERS = (b"SK", b"AC")  # that begin tokens of letters and digits
# the first letters and digits of all credentials, three at most; made by `make secrets-rules`
STARTS = frozenset(
    (
        b"% 1 4b1 : A3 A3T ABI ABS AC ACC AGE AIz AKC AKI API AQ ASI ATA ATB ATT AVN AZD Acc CCI CFP CLO EAA EZA "
        b"EZT FLW FQo Fwo GOC GR1 HRK IQo JQQ LS0 LTA NRA PMA Q~ RWR SG SK T3B X ZXl acc api atl b3B bed bku cfa "
        b"cfk cfu cio cmV col csk ctx dap dck ddo ddp dis dja doo dop dor dos dp dt0 duf e2b ess ey eyJ fc fig fio "
        b"fm1 fm2 fo1 fw gho ghp ghr ghs ghu git gla glc gld glf gli glo glp glr gls gsk hf hoo hvb hvr hvs ico jin "
        b"key lin lsv mdb mmk nap nfp npm ntn nva ops oy2 p8e pa pat pcs phx pnu ppl psc pul pyp r8 rdm rk rnd rub "
        b"s sat sb sbp sec sgp sha shi shp sig sk sl sm snt sq0 sqa sqp squ st tfp tgp tk tsk tvl us v1 vca vci vck "
        b"vcp vcr ver web whs xai xap xke xox ya2 | "
    ).split()
)
_beginnings: "dict[bytes, list[tuple[bytes, int]]]" = {}


def may_name_one(name: str) -> bool:
    """Return whether a field of that name may hold a credential."""
    return name.lower().endswith(_NAMES)


def is_plain(text: str) -> bool:
    """Return True only where a text of short words cannot contain a credential.

    As most sentences are, they need not be searched any further: an address and an assignment have one of the signs,
    as have the first lines of keys; `Basic` and the option of a command stand before what is no long word. One letter
    is looked for first, where few texts have it: that takes a tenth of the time.
    """
    if own and any(beginning in text for beginning, *_ in own):
        return False
    if ":" in text or "=" in text or ">" in text or "asic" in text or ("C" in text and "ASIC" in text):
        return False
    if (
        ('"' in text and '",' in text)
        or ("'" in text and ("'," in text or " BY '" in text or " by '" in text))
        or (
            "-" in text and ("--" in text or " -p" in text or (" -" in text and any(map(text.__contains__, _PROGRAMS))))
        )
        or (
            "ass" in text
            and ("assw" in text or "assp" in text or "assc" in text or "epass" in text or "de passe" in text)
        )
        or ("S" in text and "ASSW" in text)
        or ("wort" in text and "ennwort" in text)
    ):
        return False
    if not text.isascii():
        words = [word for word in text.split() if len(word) >= MIN_RANDOM]
        if any(map(text.__contains__, _PASSWORD_WORDS)) or not "".join(words).isascii():
            return False
        return not words or _are_names([word.encode() for word in words], text)
    data, long = text.encode(), []
    spaced = data.translate(_WORDS)
    at = spaced.find(_LONG_WORD)
    while at >= 0:
        end = spaced.find(b" ", at)
        long.append(data[at:] if end < 0 else data[at:end])
        at = spaced.find(_LONG_WORD, end) if end >= 0 else -1
    return not long or _are_names(long, text)


def _are_names(long: list[bytes], text: str) -> bool:
    """Return whether the long words of a text are paths, names and hashes, as agents write them.

    Their parts are short, of letters, or of hexadecimal digits, and none begins as a credential does. Of tokens, one
    kind is shorter than what counts as long; others stand behind a word for them.
    """
    joined = b" ".join(long)
    data = joined.translate(_APART)
    if b"-us" in joined or b".ey" in joined or not data.replace(b" ", b"").isalnum():  # tokens that begin otherwise
        return False
    if joined.count(b".") > 1 and any(len(word) >= _MIN_OF_THREE and word.count(b".") > 1 for word in long):
        return False
    parts = data.split()
    for part in parts:
        if len(part) >= MIN_RANDOM and part.strip(_HEX) and (part[:2] in _TWO_LETTERS or not part.isalpha()):
            return False
    if begun := STARTS & {part[:3] for part in parts}:
        beginnings, longest = _beginnings or sorted_beginnings(), max(map(len, long))
        if any(longest >= min_length and found in joined for start in begun for found, min_length in beginnings[start]):
            return False
    if "x" in text and ("xox" in text or "xapp-" in text):
        return False
    return "earer " not in text and not ("R" in text and "EARER " in text)


def sorted_beginnings() -> "dict[bytes, list[tuple[bytes, int]]]":
    """Sort what credentials begin with, and their least lengths, by the first letters and digits: three, or all."""
    from eventlog.secrets.patterns import AROUND, MAINTAINED, TOKENS

    tokens = ((beginning, len(beginning) + min_length) for _, some, _, min_length, _ in TOKENS for beginning in some)
    around = ((middle, MIN_RANDOM) for _, middle, *_ in AROUND)
    for beginning, min_length in (*tokens, *MAINTAINED, *around, ("eyJ", MIN_RANDOM)):
        letters = beginning.encode().translate(_APART).split()[0]
        _beginnings.setdefault(letters[:3], []).append((beginning.encode(), min_length))
    return _beginnings


def spliced(text: str, places: "Iterable[tuple[int, int, str]]") -> str:
    """Put others in the place of parts of a text, each from, to, and what; the first of those that overlap counts."""
    parts: list[str] = []
    done = 0
    for start, end, other in places:
        if start >= done:
            parts += (text[done:start], other)
            done = end
    return "".join((*parts, text[done:])) if parts else text


def changed_in(value: object, change: "Callable[[str, str], str]", name: str = "") -> object:
    """Change every text in a JSON value, by the name of its field; a name itself has none.

    Returns the same object where nothing differs.
    """
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, list):
        items = [changed_in(item, change, item_name(name)) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        fields = {
            change(str(inner), ""): changed_in(item, change, name_in(value, inner)) for inner, item in value.items()
        }
        return value if all(inner in value and fields[inner] is value[inner] for inner in fields) else fields
    return value


def name_in(fields: "Mapping[str, object]", name: str) -> str:
    """Name what a field holds: that of a value may stand beside it, as in `{"name": "DB_PASSWORD", "value": "…"}`."""
    beside = (fields.get("name") or fields.get("key")) if name == "value" else None
    return beside if isinstance(beside, str) else name


def item_name(name: str) -> str:
    """Name the items of a list: `passwords` has those that are a password."""
    return name[:-1] if name[-1:] in ("s", "S") else name
