# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='ext2, 1K: indirect, double and triple indirect maps, the last legal block'
verdict=moved
build() {
	fs 64M -t ext2 -b 1024 -O ^resize_inode
	{
		tree
		put dense 1500000
		sparse edges 1024 0 11 12 267 268 523 524 65803 65804 66060 131340 16843019
	} | batch
	settle
}
