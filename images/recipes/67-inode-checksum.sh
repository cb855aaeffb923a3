# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='damaged: the checksum of an inode'
verdict=refused
says='e2fsck'
build() {
	fs 16M -t ext4 -b 1024
	{
		many small 10 3000
		put bad 30000
	} | batch
	settle
	printf '\1\2' | poke $(($(inode_offset bad) + 0x7c))
}
