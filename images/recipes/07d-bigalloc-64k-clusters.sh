# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bigalloc: 1K blocks in clusters of 64, attribute blocks, quota'
verdict=moved
build() {
	local i
	fs 512M -t ext4 -b 1024 -I 128 -C 65536 -O bigalloc,^resize_inode,quota -E quotatype=usrquota:grpquota
	{
		tree
		comb pieces 1024 2000
		for i in 1 2 3 4 5 6; do
			put attributes$i $((i * 50000))
			echo "ea_set attributes$i user.long $(text "$i" 600 | tr '\n' x)"
			echo "sif attributes$i uid $((1000 + i % 2))"
		done
	} | batch
	settle
}
