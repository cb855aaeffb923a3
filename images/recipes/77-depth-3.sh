# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='an extent tree of depth 3'
verdict=moved
build() {
	fs 128M -t ext4 -b 1024
	{
		tree 1
		comb pieces 1024 30000
	} | batch
	settle
}
