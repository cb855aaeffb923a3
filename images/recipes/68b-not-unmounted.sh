# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='not cleanly unmounted'
verdict=refused
says='not unmounted cleanly'
build() {
	fs 16M -t ext2 -b 1024
	many small 10 3000 | batch
	settle
	echo "ssv state 0" | batch
}
