# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='damaged: an extent leads past the end of the filesystem'
verdict=refused
says='e2fsck'
build() {
	fs 16M -t ext4 -b 1024
	{
		many small 10 3000
		put bad 30000
	} | batch
	settle
	echo "sif bad block[5] 16380" | batch
}
