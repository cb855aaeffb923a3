# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='the image is shorter than its filesystem'
verdict=refused
says='whole image'
build() {
	fs 32M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	truncate -s 20M "$image"
}
