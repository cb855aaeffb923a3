# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bigalloc: clusters of 16 blocks, several extents in one'
verdict=moved
build() {
	fs 128M -t ext4 -b 1024 -O bigalloc -C 16384
	{
		tree
		sparse clusters 1024 0 1 3 4 9 15 16 31 33 47
		sparse far 1024 0 100 200 300 400 500 600
	} | batch
	settle
}
