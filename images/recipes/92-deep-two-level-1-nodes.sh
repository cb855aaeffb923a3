# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='an extent tree with two nodes of level 1'
verdict=moved
build() {
	fs 96M -t ext4 -b 1024
	{
		tree 2
		put filler 48000000
	} | batch
	{
		holes filler 0 46875 1 3
		put dense 23700000
		echo "rm filler"
	} | batch
	settle
}
