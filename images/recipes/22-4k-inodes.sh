# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='inodes of 4K, with large xattrs inside'
verdict=moved
build() {
	fs 64M -t ext4 -b 4096 -I 4096 -N 2048
	{
		tree
		text 90 2500 | tr '\n' x >"$tmp/value"
		echo "ea_set -f $tmp/value big user.large"
	} | batch
	settle
}
