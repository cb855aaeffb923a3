# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a file of thousands of extents of one block'
verdict=moved
build() {
	fs 64M -t ext4 -b 1024
	{
		tree 2
		put filler 26000000
	} | batch
	{
		holes filler 0 25390 1 1
		put single 12000000
		echo "rm filler"
	} | batch
	settle
}
