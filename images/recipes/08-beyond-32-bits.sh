# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='more than 2^32 blocks, a file beyond them'
verdict=moved
aging='--months 1'
build() {
	(truncate -s 8800G "$image") 2>/dev/null || skip "the host has no files of 8.6 TiB"
	fs 8800G -t ext4 -b 2048 -N 262144 -G 65536 -m 0 \
		-O 64bit,^has_journal,^resize_inode,sparse_super2,^sparse_super,uninit_bg \
		-O ^metadata_csum -E lazy_itable_init=1,num_backup_sb=0
	{
		tree 2
		put far 6144
		# debugfs cannot allocate there, but it can say that the file lies there.
		printf 'extent_open far\nroot\nreplace_node 0 3 4500000000\nextent_close\n'
	} | batch
	text 8 6144 | poke $((4500000000 * 2048))
	settle
}
