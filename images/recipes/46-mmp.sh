# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='multiple mount protection, not in use: its block belongs to no inode'
verdict=moved
build() {
	fs 16M -t ext4 -b 1024 -O ^metadata_csum
	many small 10 3000 | batch
	settle
	# Last, for every tool sleeps eleven seconds when it opens one.
	tune2fs -O mmp "$image" >"$tmp/tune2fs.log" 2>&1 || die "$(cat "$tmp/tune2fs.log")"
	# When and where it was made.
	head -c 104 /dev/zero | poke $(($(mmp_block) * 1024 + 8))
}
