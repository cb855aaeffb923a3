# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='made by GNU Hurd: a block number in the translator field'
verdict=refused
says='another system'
build() {
	fs 16M -t ext2 -b 1024 -I 128 -o hurd
	many small 10 3000 | batch
	settle
}
