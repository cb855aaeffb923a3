# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='one xattr block for forty files'
verdict=moved
build() {
	local i block
	fs 48M -t ext2 -b 1024 -I 128 -O ext_attr
	{
		tree
		echo "ea_set small/f000 user.shared $(text 32 300 | tr '\n' x)"
	} | batch
	block=$(show "stat small/f000" | sed -nE 's/^.*File ACL: ([0-9]+).*/\1/p')
	# e2fsck corrects the count of owners and their blocks.
	for i in $(seq 1 39); do echo "sif small/f$(printf %03d "$i") file_acl $block"; done | batch
	settle
}
