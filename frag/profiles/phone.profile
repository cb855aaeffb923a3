# SPDX-License-Identifier: MIT
# A phone's data partition. The format is documented in frag(8), section PROFILES.
summary a phone: small databases and their journals, photos, app updates

# Apps are updated often.
installed-percent 45
rewritten-percent 15

# SQLite databases are small, and the worst of all: a journal in pieces of 7 KB over 1.5 GB, while
# photos and videos are whole; files are either severely or barely fragmented (HotStorage'16).
growing-percent 8 12 15 10 5
growing-first-percent 20
appends 1 4 8 16 16
appends-most 256

# A download or an update beside the camera.
shared-percent 5 10 15 20 20
writers 3
chunk-least 4K
chunk-most 256K
turn-temporary-percent 40

# Journals that live for one transaction, caches, now and then a video.
temporary-permille 20
short-lived-percent 50
temporary-size 4K 80
temporary-size 8K 60
temporary-size 32K 30
temporary-size 128K 20
temporary-size 512K 10
temporary-size 4M 5
temporary-size 16M 1

# Phones are kept full.
low-percent 85
peak-percent 93
