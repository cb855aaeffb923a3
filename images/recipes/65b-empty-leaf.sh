# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='damaged: a leaf of an extent tree without entries'
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
	printf '\0\0' | poke $((node * 1024 + 2))
}
