# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='an unknown bit among the incompat features'
verdict=refused
says='unknown'
build() {
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	printf 'ssv feature_incompat 0x%x\n' $(($(feature_word incompat) | 0x40000000)) | batch
}
