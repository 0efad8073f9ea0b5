AGENT, PRE_COMPACTION, SESSION_END, STOP_FALLBACK = 1, 2, 3, 4

MARK = "[eventlog]"  # what a request of ours starts with: a host may hand it back as the user's words
