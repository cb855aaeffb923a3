# SPDX-License-Identifier: MIT
# For the bench: runs commands, takes medians, makes images. Sourced after tests/lib/common.sh.

bench=$BUILD/bench
# What fails in a table fails the bench, not the table alone.
set -o pipefail

median() { # numbers on stdin
	sort -n | awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)] }'
}
ratio() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }'
}
mib() { # KIB
	awk -v k="$1" 'BEGIN { printf "%.0f", k / 1024 }'
}

# Appends "wall user system kib" of one run to $work/takes. Status 1 of ours is "done in part".
take() { # COMMAND...
	local status
	"$bench/measure" "$work/take" "$@" >"$work/out" 2>&1
	status=$?
	[ $status -le 1 ] || {
		echo "bench: $* ends with $status:" >&2
		tail -n 3 "$work/out" >&2
		exit 1
	}
	cat "$work/take" >>"$work/takes"
}
# Medians of the takes since the last call: sets $wall $cpu (user + system) $user $kib.
taken() {
	wall=$(awk '{ print $1 }' "$work/takes" | median)
	user=$(awk '{ print $2 }' "$work/takes" | median)
	cpu=$(awk '{ print $2 + $3 }' "$work/takes" | median)
	kib=$(awk '{ print $4 }' "$work/takes" | median)
	rm "$work/takes"
}

# Instructions of a command in user space; "-" without valgrind.
instructions() { # COMMAND...
	command -v valgrind >/dev/null || {
		echo -
		return
	}
	valgrind --tool=exp-bbv --instr-count-only=yes --bb-out-file=/dev/null "$@" 2>&1 \
		>/dev/null | sed -n 's/.*Total instructions: //p'
}

# Out of the page cache, this file alone: dropping all caches changes the machine more than that.
evict() { # FILE...
	for file; do
		sync "$file" && dd if="$file" iflag=nocache count=0 status=none || exit 1
	done
}

new_ext4() { # IMAGE SIZE INODES
	rm -f "$1" && truncate -s "$2" "$1" && mke2fs -q -t ext4 -b 4096 -O 64bit,metadata_csum -N "$3" \
		-U f7a91ab0-0000-4000-8000-000000000001 \
		-E hash_seed=f7a91ab0-0000-4000-8000-000000000001,lazy_itable_init=0,nodiscard \
		"$1" 2>"$work/out" || {
		cat "$work/out" >&2
		exit 1
	}
}

table() { # rows on stdin, columns by tabs
	awk -F '\t' '{ printf "%-26s", $1; for (i = 2; i <= NF; i++) printf "%14s", $i; print "" }'
}
