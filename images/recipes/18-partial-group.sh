# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a last group that is not whole'
verdict=moved
build() {
	fs 40000K -t ext4 -b 1024
	tree | batch
	settle
}
