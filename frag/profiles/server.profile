# SPDX-License-Identifier: MIT
# A general server. The format is documented in frag(8), section PROFILES.
summary a server: logs that never stop, spools, a data base

# Set up once, then left alone but for security updates.
installed-percent 75
rewritten-percent 4

# Logs; the busiest is written each 20 minutes.
growing-percent 6 16 30 40 50
growing-first-percent 5
appends 4 8 16 32 64
appends-most 2048

# Many requests at a time.
shared-percent 0 30 60 70 70
writers 8
chunk-least 32K
chunk-most 512K
turn-temporary-percent 20

# Spool files, lock files and session data, and now and then a dump or an upload.
temporary-permille 30
short-lived-percent 60
temporary-size 4K 90
temporary-size 16K 60
temporary-size 64K 40
temporary-size 256K 18
temporary-size 1M 8
temporary-size 4M 3
temporary-size 16M 1

low-percent 65
peak-percent 88
