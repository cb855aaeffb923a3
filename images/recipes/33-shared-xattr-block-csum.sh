# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='one xattr block for twenty files; its checksum covers its place'
verdict=moved
build() {
	local i block
	fs 48M -t ext4 -b 1024 -I 128
	{
		tree
		echo "ea_set small/f000 user.shared $(text 33 300 | tr '\n' x)"
	} | batch
	block=$(show "stat small/f000" | sed -nE 's/^.*File ACL: ([0-9]+).*/\1/p')
	for i in $(seq 1 19); do echo "sif small/f$(printf %03d "$i") file_acl $block"; done | batch
	settle
}
