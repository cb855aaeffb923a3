# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='no sparse_super: a backup in every group'
verdict=moved
build() {
	fs 64M -t ext4 -b 1024 -O ^sparse_super,^resize_inode
	tree | batch
	settle
}
