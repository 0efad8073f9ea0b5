"""Whatever texts events hold, a rendered file has the structure it was given, and nothing in it acts or hides."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eventlog.fast import fastjson
from eventlog.format.text import harmless, one_line
from eventlog.projections.views.markdown import as_item, as_text, unescaped
from tests.support.builders import fact
from tests.support.golden import rendered
from tests.support.histories import log_of

PIECES = [
    "<details>", "</ul>", "<pre", "<!--", "-->", "<![CDATA[", "<?php", "<!DOCTYPE", "<h1>", "<script>", "<title>", '<a title="',
    "`", "``", "\\", "# forged", "## Notes", "- forged", "* x", "+ ", "---", "***", "===", "> q", "1. x", "[a]: http://b",
    "\n", "\r", "\x1b[31m", "\x9b", "\u2028", "\u202e", "\u200b", "\U000e0041", "\ufe01", "\u3164", "\x85", " ", "word", "List<String>", "端口",
    "~~~", "```", "<div>", "|---|", "&lt;", "${x}", "![a](http://b)", "![", "](http://b)", "<img src=http://b>", "<http://a",
    '<b hidden style="background:url(http://b)">', "<p/onload=x ", "!",
]  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
spoken = hostile.map(lambda text: f"x{text}" if not text.strip() else text)
_ACTING = re.compile(r"</?(details|pre|script|title|h1|ul)\b|^<[^!?].*=", re.IGNORECASE | re.DOTALL)
MARKDOWN = MarkdownIt("commonmark")


@st.composite
def _events(draw):
    texts = [draw(spoken) for _ in range(8)]
    who = {"conversation_id": texts[0], "agent": texts[1], "project": draw(st.sampled_from([None, f"/p/{texts[2]}"]))}
    facts = [
        fact(number, **who, content=draw(spoken), category=draw(st.none() | spoken), entities=[draw(spoken)])
        for number in range(draw(st.integers(0, 2)))
    ]
    said = {"topic": texts[3], "summary": texts[4], "decisions": [texts[5]], "todos": [texts[6]]}
    about = {**fact(5), "type": "stage_summary", "scope": draw(st.sampled_from(["stage", "session"])), **who, **said}
    return [*facts, {name: value for name, value in about.items() if name != "content"}]


def _documents(events):
    with log_of([fastjson.dumps(event) for event in events]) as log:
        found = rendered(log)
    return {path: data.decode() for path, data in found.items() if path.endswith(".md")}


def _example(text):
    who = {"conversation_id": text, "agent": text, "project": f"/p/{text}"}
    said = {"summary": text, "topic": text, "decisions": [text], "todos": [text]}
    return [
        fact(1, **who, content=text, category=text, entities=[text]),
        {
            **{name: value for name, value in fact(5).items() if name != "content"},
            "type": "stage_summary",
            **who,
            **said,
        },
    ]


@pytest.mark.slow
@given(_events())
@example(_example("<!-- all that follows"))
@example(_example("<div>"))
@example(_example("\u3164"))
@example(_example("`<details>` <details>"))
@example(_example('<a title="`"> <details> `'))
@example(_example("# forged\n- forged"))
@example(_example("[a]: http://b"))
@example(_example("***"))
@example(_example("![a](http://b)"))
@example(_example("[![a](http://b)](http://c)"))
@example(_example("<http://a`b> ![a](http://b) `c"))
@example(_example('<b hidden style="background:url(http://b)">'))
@example(_example("<![a](http://b)"))
@example(_example("<![CDATA[x]](http://b)"))
def test_no_text_forges_a_heading_or_a_bullet_nor_acts_or_hides(events):
    for path, text in _documents(events).items():
        body = text.split("\n")
        tokens = MARKDOWN.parse(text)
        inline = [child for token in tokens for child in token.children or ()]

        assert text == "\n".join(map(harmless, body)), path
        assert _count(tokens, "heading_open") == sum(line.startswith(("# ", "## ")) for line in body), path
        bullets = sum(line.startswith("- ") for line in body)
        assert _bullets(tokens) == bullets, path
        assert all(token.content.startswith("<!-- eventlog ") for token in tokens if token.type == "html_block"), path
        assert not [child for child in inline if child.type == "html_inline" and _ACTING.search(child.content)], path
        assert not _pictures(tokens), path  # it would be loaded


def _pictures(tokens):
    return [token for token in tokens if token.type == "image" or _pictures(token.children or ())]


def _count(tokens, *types):
    return sum(token.type in types for token in tokens)


def _bullets(tokens):
    return sum(token.type == "list_item_open" and token.markup in "-*+" for token in tokens)


@given(spoken.map(one_line))
@example("\\\\<details>")
@example("<![CDATA[x]](http://b)")
@example("\\\\![x](http://b) \\![x](http://b)")
def test_what_is_made_fit_for_a_file_is_understood_again(text):
    for made in (as_text(text), as_item(text)):
        assert unescaped(made) == unescaped(text)
        assert as_text(made) == made


@pytest.mark.parametrize(
    "text",
    [
        "List<String> and a < b", "in `<details>` it says", "use <div> here", "Fix #12 - done", "a\\b", "-1", "#12",
        "vec![1, 2] and #![allow(x)]", "if a <b and c > d", "[see](http://b)", "in `![a](http://b)` it says", "at <http://a?b=c>",
    ],
)  # fmt: skip
def test_ordinary_text_is_rendered_as_it_is(text):
    assert text == as_text(text) == as_item(text)
