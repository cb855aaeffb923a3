# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a compressed image'
verdict=refused
says='gzip'
build() {
	local real=$image
	image=$tmp/raw
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	gzip -n <"$image" >"$real"
}
