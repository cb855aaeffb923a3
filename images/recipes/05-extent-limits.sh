# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='extents of the greatest length: 32,768 blocks written, 32,767 unwritten'
verdict=moved
build() {
	fs 512M -t ext4 -b 4096 -g 32768
	{
		tree
		# Blocks of zeros between written ones would be holes, so all of it is allocated
		# unwritten; the first extents of "written" are then declared written.
		echo "write /dev/null unwritten"
		echo "fallocate unwritten 0 49999"
		echo "sif unwritten size $((50000 * 4096))"
		echo "write /dev/null past"
		echo "fallocate past 0 33000"
	} | batch
	settle
}
