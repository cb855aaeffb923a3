# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='thousands of free blocks, no two of them together'
verdict=moved
build() {
	fs 24M -t ext4 -b 1024
	{
		tree 1
		put filler 8000000
	} | batch
	fill 0
	holes filler 0 7810 1 1 | batch
	settle
}
