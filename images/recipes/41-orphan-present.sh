# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='files deleted while open wait in the orphan file'
verdict=refused
says='deleted while open'
build() {
	fs 16M -t ext4 -b 1024 -O orphan_file
	many small 10 3000 | batch
	settle
	echo "feature orphan_present" | batch
}
