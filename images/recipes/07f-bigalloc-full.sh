# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bigalloc: one cluster in a hundred is free'
verdict=moved
build() {
	fs 64M -t ext4 -b 1024 -C 4096 -O bigalloc,^resize_inode
	{
		tree 2
		put filler 9000000
	} | batch
	{
		holes filler 0 8780 4 4
		put scattered 4000000
	} | batch
	fill 32
	echo "punch plug 32 599" | batch
	settle
}
