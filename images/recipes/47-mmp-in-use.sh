# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='multiple mount protection: another machine uses it'
verdict=refused
says='mmp|multiple mount'
build() {
	fs 16M -t ext4 -b 1024 -O ^metadata_csum
	many small 10 3000 | batch
	settle
	tune2fs -O mmp "$image" >"$tmp/tune2fs.log" 2>&1 || die "$(cat "$tmp/tune2fs.log")"
	head -c 104 /dev/zero | poke $(($(mmp_block) * 1024 + 8))
	poke32 $(($(mmp_block) * 1024 + 4)) 47
}
