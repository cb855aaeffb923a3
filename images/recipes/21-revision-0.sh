# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='revision 0: no feature words'
verdict=moved
build() {
	fs 48M -t ext2 -b 1024 -r 0 -O none
	tree | batch
	settle
}
