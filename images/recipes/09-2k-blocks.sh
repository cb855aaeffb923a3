# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='blocks of 2K'
verdict=moved
build() {
	fs 48M -t ext4 -b 2048
	tree | batch
	settle
}
