# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a qcow2 image'
verdict=refused
says='qcow2'
build() {
	local real=$image
	image=$tmp/raw
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	e2image -Q "$tmp/raw" "$real" >/dev/null 2>&1
}
