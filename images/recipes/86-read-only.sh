# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='marked as never to be written'
verdict=analysed
says='read-only'
build() {
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	echo "feature read-only" | batch
}
