# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a deleted inode still names blocks that are now of another file (ext2)'
verdict=moved
build() {
	fs 32M -t ext2 -b 1024
	{
		tree 2
		put temporary 200000
		put old 300000
		put keep 3000
	} | batch
	{
		printf 'rm temporary\nrm old\n'
		put new 700000
	} | batch
	settle
}
