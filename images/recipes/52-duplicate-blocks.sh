# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='two files claim the same blocks'
verdict=refused
says='e2fsck'
build() {
	fs 16M -t ext4 -b 1024
	{
		many small 10 3000
		put one 30000
		put two 30000
	} | batch
	settle
	echo "sif two block[5] $(first_block one)" | batch
}
