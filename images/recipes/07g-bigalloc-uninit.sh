# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bigalloc: groups whose bitmap is not on the disk, no checksums of metadata'
verdict=moved
build() {
	fs 256M -t ext4 -b 1024 -C 4096 -g 8192 -O bigalloc,^resize_inode,^metadata_csum,uninit_bg
	tree | batch
	settle
}
