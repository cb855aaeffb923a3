# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='no flex_bg: bitmaps and inode tables in every group'
verdict=moved
build() {
	fs 64M -t ext4 -b 1024 -O ^flex_bg
	tree | batch
	settle
}
