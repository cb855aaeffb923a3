# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='sparse_super2: backups in the first and the last group only'
verdict=moved
build() {
	fs 96M -t ext4 -b 1024 -O sparse_super2,^sparse_super,^resize_inode -E num_backup_sb=2
	tree | batch
	settle
}
