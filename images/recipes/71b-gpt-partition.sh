# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='the first partition of a disk with GPT'
verdict=moved
options='--partition 1' offset=1048576
build() {
	whole_disk 2048 104448 gpt
}
