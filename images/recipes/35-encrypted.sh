# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='encrypted folder and files: names are not text, content depends on the inode number'
verdict=moved
mounts='no: its names cannot be looked up without the key'
build() {
	local path
	# Without checksums the namespace of an xattr can be corrected by hand.
	fs 48M -t ext4 -b 1024 -O encrypt,^metadata_csum,uninit_bg
	{
		tree
		echo "mkdir secret"
		for path in AAAAAAAAAAAAAAAA BBBBBBBBBBBBBBBB; do put "secret/$path" 32768; done
	} | batch
	# A version 2 context: modes, flags, key identifier, nonce.
	{
		printf '\2\1\4\2\0\0\0\0'
		text 35 32 | tr '\n' x
	} >"$tmp/context"
	for path in secret secret/AAAAAAAAAAAAAAAA secret/BBBBBBBBBBBBBBBB; do
		echo "ea_set -f $tmp/context $path user.c"
	done | batch
	for path in secret secret/AAAAAAAAAAAAAAAA secret/BBBBBBBBBBBBBBBB; do
		# Behind the fixed fields and the magic: name length, then the namespace; 9 is
		# encryption, which debugfs has no word for.
		printf '\11' | poke $(($(inode_offset $path) + 128 + 32 + 4 + 1))
	done
	printf 'sif secret flags 0x80800\n%s\n%s\n' 'sif secret/AAAAAAAAAAAAAAAA flags 0x80800' \
		'sif secret/BBBBBBBBBBBBBBBB flags 0x80800' | batch
	settle
}
