# SPDX-License-Identifier: MIT
# For test scripts in bash: a work folder, counting, and the judges of an image.
# Sourced from the top folder; BUILD names the folder of the programs.

set -u
export LC_ALL=C TZ=UTC PATH=$PATH:/usr/sbin:/sbin
BUILD=${BUILD:-build}
frag=$BUILD/frag defrag=$BUILD/defrag sample=$BUILD/images/sample digest=$BUILD/tests/digest
passed=0 failed=0

work=$(mktemp -d "${TMPDIR:-/tmp}/fraglab-test.XXXXXX") || exit 1
mounted=
clean_up() {
	[ -z "$mounted" ] || umount "$mounted"
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

need() { # PROGRAM...: a missing tool is a failure, never a skip
	for tool; do
		command -v "$tool" >/dev/null || {
			echo "FAIL: $tool is missing"
			echo "0 passed, 1 failed"
			exit 1
		}
	done
}

# Tools wait eleven seconds or more for other machines that may use a filesystem with multiple
# mount protection; from here on they do not.
no_waiting() {
	export LD_PRELOAD=$PWD/$BUILD/tests/nosleep.so
	[ "${BUILD#/}" = "$BUILD" ] || LD_PRELOAD=$BUILD/tests/nosleep.so
}

ok() {
	passed=$((passed + 1))
	[ -z "${VERBOSE:-}" ] || echo "ok   $*"
}
fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
}
expect() { # TEXT COMMAND...
	text=$1
	shift
	if "$@" >"$work/expect.out" 2>&1; then
		ok "$text"
	else
		fail "$text"
		head -n 20 "$work/expect.out"
	fi
}
refuse() { # TEXT COMMAND...: must fail
	text=$1
	shift
	if "$@" >"$work/expect.out" 2>&1; then fail "$text"; else ok "$text"; fi
}
finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}

# e2fsck is a judge by its words: status 0 of -fn still leaves things it would like to change.
fsck_clean() { # IMAGE
	timeout 120 e2fsck -fn "$1" >"$work/fsck.out" 2>&1 || {
		cat "$work/fsck.out"
		return 1
	}
	if grep -E 'Optimize|QUOTA WARNING|WARNING|<y>|\? no|Inconsistent|inconsistent' \
		"$work/fsck.out"; then
		return 1
	fi
	cp --sparse=always "$1" "$work/fsck.img" || return 1
	timeout 120 e2fsck -fy "$work/fsck.img" >"$work/fsck.out" 2>&1
	status=$?
	rm -f "$work/fsck.img"
	if [ $status -ne 0 ] || grep MODIFIED "$work/fsck.out"; then
		cat "$work/fsck.out"
		return 1
	fi
}

copy() { # FROM TO
	rm -f "$2" && cp --sparse=always "$1" "$2"
}

# Mounts IMAGE read-only at $work/mount. 77: this machine cannot (the reason is on stdout).
mount_image() { # IMAGE
	mkdir -p "$work/mount"
	mount -t ext4 -o loop,ro,noload "$1" "$work/mount" && mounted=$work/mount
}
unmount_image() {
	umount "$work/mount" && mounted=
}
can_mount() {
	[ "$(id -u)" = 0 ] || {
		echo "skip: only root can mount"
		return 1
	}
	truncate -s 2M "$work/try.img" && mke2fs -q -F "$work/try.img" >/dev/null 2>&1 || return 1
	mount_image "$work/try.img" >"$work/try.out" 2>&1 && unmount_image || {
		echo "skip: no loop mounts here: $(tail -n 1 "$work/try.out")"
		return 1
	}
}
