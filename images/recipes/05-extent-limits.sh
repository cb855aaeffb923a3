# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='extents of the greatest length: 32,768 blocks written, 32,767 unwritten'
verdict=moved
build() {
	local first second
	# No backups, so that nothing cuts the disk into groups.
	fs 640M -t ext4 -b 4096 -O sparse_super2,^sparse_super,^resize_inode -E num_backup_sb=0
	{
		tree 2
		echo "write /dev/null unwritten"
		echo "fallocate unwritten 0 69999"
		echo "sif unwritten size $((70000 * 4096))"
		echo "write /dev/null written"
		echo "fallocate written 0 49999"
		echo "sif written size $((50000 * 4096))"
	} | batch
	# The longest unwritten extent and the one behind it become written ones; of zeros, which
	# take no room on the host.
	read -r first second < <(show "ex written" | awk '$(NF - 1) == 32767 { p = $8; next }
		p { print p, $8; exit }')
	[ "$second" = $((first + 32767)) ] || die "no full extent: $(show "ex written")"
	set -- $(show "ex written" | awk -v p="$first" '$8 == p { print $5; getline; print $5, $(NF - 1) }')
	cat <<-END | batch
		extent_open written
		goto_block $1
		replace_node $1 32768 $first
		next
		replace_node $(($2 + 1)) $(($3 - 1)) $((second + 1))
		extent_close
	END
	settle
}
