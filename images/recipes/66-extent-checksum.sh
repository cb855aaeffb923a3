# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='damaged: the checksum of an extent block'
verdict=refused
says='e2fsck'
build() {
	local node
	fs 16M -t ext4 -b 1024
	{
		many small 10 3000
		comb bad 1024 500
	} | batch
	settle
	node=$(show "stat bad" | sed -nE 's/.*\(ETB0\):([0-9]+).*/\1/p' | head -n 1)
	poke32 $((node * 1024 + 1020)) 0x12345678
}
