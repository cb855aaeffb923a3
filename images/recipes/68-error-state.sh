# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='marked as having errors'
verdict=refused
says='errors'
build() {
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	echo "ssv state 3" | batch
}
