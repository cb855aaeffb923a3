# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='ext4, 1K: extent tree of depth 2 with thousands of extents'
verdict=moved
build() {
	fs 64M -t ext4 -b 1024
	{
		tree 2
		put filler 20000000
	} | batch
	{
		holes filler 0 19530 1 1
		put dense 9000000
	} | batch
	settle
}
