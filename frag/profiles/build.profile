# SPDX-License-Identifier: MIT
# A developer's or a build machine. The format is documented in frag(8), section PROFILES.
summary a build machine: git pulls, compiler output, packages

# Pulls replace files of the tree all the time: git writes a new file and renames. (FAST'17: some
# hundred pulls halve the speed of reading; usage ages a disk, not fullness, HotStorage'19.)
installed-percent 50
rewritten-percent 10

# Build logs, caches of the compiler and of packages; objects and packs are written once.
growing-percent 2 4 10 25 35
growing-first-percent 10
appends 1 2 4 8 16
appends-most 128

# make -j writes objects side by side.
shared-percent 10 40 60 75 80
writers 8
chunk-least 32K
chunk-most 1M
turn-temporary-percent 60

# Objects and intermediate files: a full build every other day, which takes a sixth of the disk.
temporary-permille 80
short-lived-percent 50
temporary-size 4K 40
temporary-size 16K 50
temporary-size 64K 60
temporary-size 256K 30
temporary-size 1M 10
temporary-size 8M 3
temporary-size 64M 1

low-percent 55
peak-percent 85
