# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='bad blocks'
verdict=pinned
stays='<1>'
build() {
	seq 20000 3 20300 >"$tmp/bad"
	fs 48M -t ext4 -b 1024 -l "$tmp/bad"
	tree | batch
	settle
}
