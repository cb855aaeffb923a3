# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='fast_commit with a journal that must be replayed'
verdict=refused
says='journal must be replayed'
build() {
	fs 32M -t ext4 -b 1024 -O fast_commit,^metadata_csum
	{
		many small 10 3000
		put file 30000
	} | batch
	settle
	echo "feature needs_recovery" | batch
}
