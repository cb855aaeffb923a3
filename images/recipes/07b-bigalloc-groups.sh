# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bigalloc, 1K: descriptors in several blocks, behind a boot block that is in group 0'
verdict=moved
build() {
	fs 320M -t ext4 -b 1024 -O bigalloc -C 2048
	tree 12 | batch
	settle
}
