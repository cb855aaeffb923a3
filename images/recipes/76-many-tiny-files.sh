# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='30,000 files of one block'
verdict=moved
build() {
	local i
	fs 96M -t ext4 -b 1024 -N 32768
	{
		tree 2
		for i in $(seq 1 30); do many tiny$i 1000 700; done
	} | batch
	settle
}
