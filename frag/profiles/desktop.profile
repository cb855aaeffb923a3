# SPDX-License-Identifier: MIT
# An office desktop. The format is documented in frag(8), section PROFILES.
summary an office desktop: documents, mail, a browser, updates

# Half of the disk is the installed system; updates and documents saved again replace files.
installed-percent 50
rewritten-percent 10

# Mail boxes, databases and logs grow; the worst are append-only (FAST'11, 857 desktops: 4 % of
# the files have more than one fragment, a quarter of all fragments is in files with over 170).
growing-percent 24 30 26 28 24
growing-first-percent 25
appends 1 2 4 8 16
# 17 a day: a browser's history.
appends-most 512

# Downloads and updates run side by side.
shared-percent 15 40 55 70 75
writers 4
chunk-least 16K
chunk-most 512K
turn-temporary-percent 50

# The disk is written over in seven weeks.
temporary-permille 20
short-lived-percent 30
# A study of desktops in 2004, rounded; what is below 512 bytes takes a block as well.
temporary-size 512 64
temporary-size 2K 50
temporary-size 8K 46
temporary-size 32K 35
temporary-size 128K 20
temporary-size 512K 10
temporary-size 2M 4
temporary-size 8M 1

low-percent 70
peak-percent 90
