# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='ext2, fragmented and nearly full'
verdict=moved
build() {
	fs 24M -t ext2 -b 1024
	{
		tree 2
		put filler 14000000
	} | batch
	{
		holes filler 0 13671 3 2
		put dense 5000000
	} | batch
	settle
}
