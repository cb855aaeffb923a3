# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='ea_inode: an xattr value in an inode that three files share'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024 -O ea_inode
	text 31 20000 | tr '\n' x >"$tmp/value"
	{
		tree
		for path in one two three; do
			put $path 3000
			echo "ea_set -f $tmp/value $path user.large"
		done
	} | batch
	settle
}
