"""Passwords in sentences: "the password is …", "Passwort für die Datenbank lautet …", "密码是 …".

A sentence also says what a password has to be, where it is and how it is stored. So only what no word is counts: ASCII
with a digit, but no number of something, algorithm, version, issue, address or name of a program.

Loaded by hooks: no re.
"""

from eventlog.secrets.patterns import ALNUM, SPOKEN_PASSWORDS, WORD
from eventlog.secrets.scan import before_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_OF = (" for ", " of ", " on ", " in ", " to ", " für ", " zu ", " zum ", " von ", " vom ", " auf ", " de ", " del ",
       " da ", " do ", " du ", " pour ", " para ", " per ", " от ", " для ", " voor ")  # fmt: skip
_IS = (" is now ", " is set to ", " was set to ", " is ", " was changed to ", " was ", " has been changed to ",
       " changed to ", " set to ", " reset to ", " now ", "'s ", " ist jetzt ", " ist ", " lautet jetzt ", " lautet ",
       " wurde auf ", " is: ", " ist: ", " lautet: ", " est ", " es ", " é ", " è ", " это ", " — ", " : ", ": ",
       "：")  # fmt: skip
_IS_IN_CHINESE = ("现在是", "就是", "改成了", "改为了", "换成了", "设置为", "设置成", "改成", "改为", "换成", "设为",
                  "是", "为", "為", "は", "는 ", "은 ")  # fmt: skip
_LONGEST_OF, _LONGEST = 50, 80  # characters from the name to the verb, and of a password
_CLAUSE_ENDS = ".,;!?\n()，。；！？"
_AROUND = ":： \t\"'`*“”„‚‘’「『《（("
_ENDS = " \t\r\n\"'`,;|<>()[]{}\\“”’"
_MIN = 6
_NO_PASSWORDS = ("sha", "md5", "base", "bcrypt", "argon", "scrypt", "pbkdf", "hmac", "aes", "rsa", "utf", "oauth",
                 "1password", "http", "test_", "totp", "webauthn", "iso", "rfc", "nist", "pep", "2fa")  # fmt: skip


def in_sentences(text: str) -> "Iterator[tuple[int, int, str]]":
    """Yield where passwords stand in sentences, and their kind; the time is linear."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have two in lower case: places would differ
        return
    for name in SPOKEN_PASSWORDS:
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            start = _value_at(lower, at, end)
            value = _word(text, start) if start else ""
            if value and may_be_password(value):
                yield start, start + len(value), "password"
            at = lower.find(name, end)


def _value_at(lower: str, at: int, end: int) -> int:
    """Find where the value begins that a sentence gives to the name there; 0 for none."""
    rest = lower[end : end + _LONGEST_OF]
    if rest.startswith(_OF):
        clause = before_any(rest, _CLAUSE_ENDS)
        found = [(place, -len(word)) for word in _IS if (place := clause.find(word)) >= 0]
        at, size = min(found, default=(0, 0))
        skipped = at - size
    else:
        words = _IS if rest[:1] in (" ", ":", "'", "：") else _IS_IN_CHINESE
        skipped = max((len(word) for word in words if rest.startswith(word)), default=0)
    if not skipped and rest[:1] == " " and lower[max(0, at - 1) : at] in ("", " ", "\n"):  # "use password … there"
        skipped = 1
    if not skipped:
        return 0
    value = lower[end + skipped : end + skipped + 8]
    return end + skipped + len(value) - len(value.lstrip(_AROUND))


def _word(text: str, at: int) -> str:
    """Return the word there, up to its first letter beyond ASCII, without the end of a sentence."""
    word = before_any(text[at : at + _LONGEST], _ENDS)
    ascii_only = next((place for place, char in enumerate(word) if not char.isascii()), len(word))
    return word[:ascii_only].rstrip(".!?:*_")


def may_be_password(word: str) -> bool:
    """Return whether a word is no word of a language, and nothing else that has digits."""
    if len(word) < _MIN or not any(map(str.isdigit, word)) or word.lower().startswith(_NO_PASSWORDS):
        return False
    if word[0] not in ALNUM + "!@#&^+=-_?" or "://" in word or word.count("/") > 1 or word.endswith("%"):
        return False
    first, dash, last = word.partition("-")
    if dash and ((first.isdigit() and last.replace("-", "").isalpha()) or (first.isalpha() and last.isdigit())):
        return False  # "8-character", "SHOP-1204"
    return not ("." in word and not word.strip(WORD + "."))  # of a program, or a version
