# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='fast_commit, clean'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024 -O fast_commit
	tree | batch
	settle
}
