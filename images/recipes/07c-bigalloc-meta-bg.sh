# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bigalloc, 1K: the same with meta_bg'
verdict=moved
build() {
	fs 320M -t ext4 -b 1024 -O bigalloc,meta_bg,^resize_inode -C 2048
	tree 12 | batch
	settle
}
