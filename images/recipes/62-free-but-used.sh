# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='damaged: the bitmap calls blocks used that nobody owns'
verdict=refused
says='e2fsck'
build() {
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	echo "setb 12000 50" | batch
}
