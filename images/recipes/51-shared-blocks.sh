# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='shared_blocks: files share blocks by design'
verdict=refused
says='share'
build() {
	fs 16M -t ext4 -b 1024 -O ^has_journal
	{
		many small 10 3000
		put one 30000
		put two 30000
	} | batch
	settle
	printf 'copy_inode one two\nfeature shared_blocks\n' | batch
}
