# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='extents switched on late: files of both maps in one filesystem'
verdict=moved
build() {
	fs 48M -t ext3 -b 1024
	{
		many old 30 20000
		put old1 2000000
		put old2 400000
	} | batch
	tune2fs -O extents,uninit_bg,dir_index,huge_file,dir_nlink,extra_isize "$image" \
		>"$tmp/tune2fs.log" 2>&1 || die "$(cat "$tmp/tune2fs.log")"
	settle
	{
		tree 2
		put new1 2000000
	} | batch
	settle
}
