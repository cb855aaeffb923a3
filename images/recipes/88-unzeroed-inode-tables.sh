# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='inode tables that were never zeroed'
verdict=moved
build() {
	# What was there before looks like inodes: words that could be block numbers.
	seq -f %03.0f 100 999 | tr '\n' '\1' | head -c 3600 >"$tmp/junk"
	yes "$tmp/junk" | head -n 9000 | xargs cat | head -c 32M >"$image" || :
	fs 32M -t ext4 -b 1024 -E lazy_itable_init=1 -N 16384
	tree 2 | batch
	settle
}
