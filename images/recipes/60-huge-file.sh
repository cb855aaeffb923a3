# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='huge_file: a file that counts blocks, not sectors'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024
	{
		tree
		put counted 300000
		echo "sif counted flags 0xC0000"
		comb pieces 1024 200
		echo "sif pieces flags 0xC0000"
	} | batch
	settle
}
