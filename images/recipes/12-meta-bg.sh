# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='meta_bg: descriptors spread over the disk'
verdict=moved
build() {
	fs 160M -t ext4 -b 1024 -O meta_bg,^resize_inode
	tree | batch
	settle
}
