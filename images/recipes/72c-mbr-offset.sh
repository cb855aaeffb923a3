# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='the same by its offset'
verdict=moved
options='--offset 32256' offset=32256
build() {
	whole_disk 63 100000 dos
}
