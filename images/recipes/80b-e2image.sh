# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='an e2image file: metadata without content'
verdict=refused
says='whole image|e2image'
build() {
	local real=$image
	image=$tmp/raw
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	e2image "$tmp/raw" "$real" >/dev/null 2>&1
	# Where, from what and when it was made.
	image=$real
	head -c 168 /dev/zero | poke 20
	head -c 8 /dev/zero | poke 244
}
