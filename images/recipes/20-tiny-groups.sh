# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='groups of 256 blocks'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024 -g 256 -O ^resize_inode
	tree | batch
	settle
}
