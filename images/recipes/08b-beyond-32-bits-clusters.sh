# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='more than 2^32 blocks in clusters'
verdict=moved
build() {
	(truncate -s 4400G "$image") 2>/dev/null || skip "the host has no files of 4.3 TiB"
	fs 4400G -t ext4 -b 1024 -N 65536 -G 4096 -m 0 -C 16384 \
		-O bigalloc,64bit,^has_journal,^resize_inode,sparse_super2,^sparse_super \
		-E lazy_itable_init=1,num_backup_sb=0
	tree 2 | batch
	settle
}
