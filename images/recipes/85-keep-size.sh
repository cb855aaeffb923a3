# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='unwritten blocks past the end, in a deep tree'
verdict=moved
build() {
	fs 64M -t ext4 -b 1024
	{
		tree 2
		put filler 20000000
	} | batch
	{
		holes filler 0 19530 1 1
		put short 5120
		echo "fallocate short 5 9000"
	} | batch
	settle
}
