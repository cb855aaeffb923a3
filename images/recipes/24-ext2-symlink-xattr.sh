# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='ext2, 128-byte inodes: fast symlinks with an xattr block'
verdict=moved
build() {
	fs 48M -t ext2 -b 1024 -I 128
	{
		tree
		echo "symlink fast ../some/where/else"
		echo "ea_set fast user.name $(text 24 200 | tr '\n' x)"
	} | batch
	settle
}
