# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='damaged: an extent tree that leads back into itself'
verdict=refused
says='e2fsck'
build() {
	local node
	fs 16M -t ext4 -b 1024 -O ^metadata_csum
	{
		many small 10 3000
		comb bad 1024 500
	} | batch
	settle
	node=$(show "stat bad" | sed -nE 's/.*\(ETB0\):([0-9]+).*/\1/p' | head -n 1)
	# Its first entry becomes an index that names the node; so does the root.
	poke32 $((node * 1024 + 6)) 1
	poke32 $((node * 1024 + 16)) "$node"
	poke32 $((node * 1024 + 20)) 0
}
