# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='no block is free'
verdict=analysed
says='no free block'
build() {
	fs 24M -t ext4 -b 1024
	{
		tree 1
		put filler 5000000
	} | batch
	{
		holes filler 0 4880 2 2
		put scattered 2000000
	} | batch
	fill 0
}
