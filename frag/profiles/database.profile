# SPDX-License-Identifier: MIT
# A database server. The format is documented in frag(8), section PROFILES.
summary a database server: tables that grow, its log, sorts, nightly dumps

# The system and what was loaded at first. Updates in place allocate nothing, so only tables that
# are rebuilt count as rewritten.
installed-percent 60
rewritten-percent 3

# PostgreSQL's manual (Database File Layout): a table is files of up to 1 GiB, extended by pages of
# 8 KiB as rows come. The larger a table, the more often it is extended.
growing-percent 4 10 30 60 80
growing-first-percent 20
appends 1 4 16 64 128
appends-most 1024

# A restore and index builds work on several files at a time.
shared-percent 0 20 50 70 80
writers 6
chunk-least 8K
chunk-most 512K
turn-temporary-percent 15

# Log segments of 16 MiB (PostgreSQL's wal_segment_size), sorts that spill, dumps that are kept
# for a while.
temporary-permille 40
short-lived-percent 70
temporary-size 8K 80
temporary-size 64K 60
temporary-size 1M 40
temporary-size 16M 30
temporary-size 64M 3

low-percent 60
peak-percent 85
