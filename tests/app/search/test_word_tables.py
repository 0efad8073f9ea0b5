"""The words of the index, as FTS5 lays them out."""

import sqlite3

from eventlog.app.search.word_tables import PARTS, FullText

_PAGES = "SELECT id, block FROM words_data WHERE id > 10"  # below are sums, and the list of the parts


def test_the_words_of_a_whole_log_are_not_written_again_with_those_of_later_facts():
    database = sqlite3.connect(":memory:", isolation_level=None)
    words = FullText(database)
    words.create()
    database.execute("BEGIN")
    words.fill((number << PARTS, f"word{number} of a long log") for number in range(300))
    database.execute("COMMIT")
    filled = database.execute(_PAGES).fetchall()
    for number in range(300, 320):
        words.put([(number << PARTS, f"word{number} of a fact")])
    assert set(filled) <= set(database.execute(_PAGES).fetchall())
    assert [row >> PARTS for row, _ in words.scores(["word7"], "")] == [7]
    database.close()
