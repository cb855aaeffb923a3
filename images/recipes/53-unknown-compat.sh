# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='an unknown bit among the compat features'
verdict=refused
says='unknown'
build() {
	fs 16M -t ext4 -b 1024
	many small 10 3000 | batch
	settle
	printf 'ssv feature_compat 0x%x\n' $(($(feature_word compat) | 0x20000000)) | batch
}
