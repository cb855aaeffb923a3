# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bigalloc: 4K blocks in clusters of 64K, unwritten blocks'
verdict=moved
build() {
	fs 512M -t ext4 -b 4096 -C 65536 -O bigalloc,^resize_inode
	{
		tree 8
		comb pieces 4096 400
		for i in $(seq 0 3 600); do echo "fallocate holes $((1000 + i)) $((1000 + i))"; done
		echo "fallocate big 900 1300"
	} | batch
	settle
}
