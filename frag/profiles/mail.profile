# SPDX-License-Identifier: MIT
# A mail server. The format is documented in frag(8), section PROFILES.
summary a mail server: a message a file, mail boxes, a queue

# Nearly all of the disk is mail that has come since; indexes are written anew.
installed-percent 15
rewritten-percent 5

# Mail boxes of many messages, indexes and logs grow, 16 KiB an append and an fsync after each
# (filebench's varmail).
growing-percent 2 10 40 60 70
growing-first-percent 5
appends 2 16 64 128 256
appends-most 2048

# Deliveries side by side.
shared-percent 5 30 40 50 50
writers 8
chunk-least 4K
chunk-most 128K
turn-temporary-percent 40

# The queue, and messages that are read and deleted. Median of a maildir: 3,100 bytes (dovecot's
# list, September 2005); mean of varmail: 16 KiB; a tail of attachments.
temporary-permille 25
short-lived-percent 70
temporary-size 4K 100
temporary-size 8K 55
temporary-size 16K 30
temporary-size 64K 15
temporary-size 256K 8
temporary-size 1M 4
temporary-size 8M 1

low-percent 70
peak-percent 92
