# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='ext3, 1K: two files block by block in turns, and their map blocks between'
verdict=moved
build() {
	local i
	fs 48M -t ext3 -b 1024
	{
		tree 2
		put filler 5000000
	} | batch
	# The holes of the filler alternate: every first one of a pair is filled by a, the others by b.
	{
		holes filler 0 4880 3 1
		put a 1200000
	} | batch
	{
		holes filler 0 4880 1 1
		put b 1200000
		echo "rm filler"
	} | batch
	settle
}
