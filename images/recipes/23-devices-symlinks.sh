# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='device nodes, fast and slow symlinks, with xattr blocks of their own'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024
	{
		tree
		printf 'mknod disk b 8 1\nmknod tape c 300 65000\nmknod pipe p\n'
		echo "symlink fast59 $(text 23 59 | tr '\n' x)"
		echo "symlink slow60 $(text 24 60 | tr '\n' x)"
		echo "symlink slow900 $(text 25 900 | tr '\n' x)"
		for path in disk tape pipe fast59 slow60; do
			echo "ea_set $path user.large $(text "$(cksum <<<$path | cut -c 1-6)" 600 | tr '\n' x)"
		done
	} | batch
	settle
}
