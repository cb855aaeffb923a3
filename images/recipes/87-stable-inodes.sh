# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='stable_inodes: encryption by inode number'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024 -O encrypt,stable_inodes
	tree | batch
	settle
}
