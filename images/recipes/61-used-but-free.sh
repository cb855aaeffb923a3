# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='damaged: the bitmap calls blocks of a file free'
verdict=refused
says='e2fsck'
build() {
	fs 16M -t ext4 -b 1024
	{
		many small 10 3000
		put precious 30000
	} | batch
	settle
	echo "freeb $(first_block precious) 3" | batch
}
