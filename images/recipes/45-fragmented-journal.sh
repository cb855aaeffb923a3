# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a journal of a thousand extents, and its copy in the superblock'
verdict=pinned
stays='<8>'
build() {
	fs 48M -t ext4 -b 1024 -O ^has_journal
	{
		tree 2
		put filler 5000000
		echo "write /dev/null plug"
	} | batch
	# Nothing is free but the holes of the filler, so the journal lies in them.
	{
		echo "fallocate plug 0 $(($(show stats | sed -nE 's/^Free blocks: *//p') - 500))"
		holes filler 0 4880 1 1
	} | batch
	tune2fs -j -J size=1 "$image" >"$tmp/tune2fs.log" 2>&1 || die "$(cat "$tmp/tune2fs.log")"
	printf 'rm filler\nrm plug\n' | batch
	settle
}
