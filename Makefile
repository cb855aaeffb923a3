# SPDX-License-Identifier: MIT
# Builds fraglab out of tree, in build/. `make help` lists the targets.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CFLAGS ?= -O2 -g

# What demo and check need beside make, as Debian packages; the only list.
packages := gcc libc6-dev libext2fs-dev libblkid-dev libjansson-dev libaio-dev e2fsprogs
packages += libcmocka-dev patch attr mount fdisk xz-utils jq groff-base clang clang-format cppcheck
packages += libclang-rt-dev valgrind fio

WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wconversion
# WERROR=1, for CI: a warning is an error.
WARNINGS += $(if $(filter 1,$(WERROR)),-Werror)
fl_cppflags := -Iinclude -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
fl_cflags := -std=gnu11 $(WARNINGS) -MMD -MP
fl_libs := -lext2fs -lcom_err -lblkid -ljansson -laio

programs := frag defrag
headers := $(wildcard include/fraglab/*.h)
lib_objects := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard common/*/*.c))
unit_tests := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))
# Objects of a folder, with what is generated for it; and without its main, for unit tests of a program's own modules.
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(1)/*.c)) $(generated_$(1))
modules = $(filter-out %/main.o,$(call objects,$(1)))
sources := $(wildcard include/fraglab/*.h common/*/*.[ch] frag/*.[ch] defrag/*.[ch] images/*.[ch] \
	tests/*/*.[ch])

all: $(programs:%=$(BUILD)/%) $(BUILD)/libfraglab.a

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(fl_cppflags) $(CPPFLAGS) $(fl_cflags) $(CFLAGS) -c -o $@ $<

# The profiles, compiled in as the texts that they are.
profiles := $(wildcard frag/profiles/*.profile)
generated_frag := $(BUILD)/obj/frag/profiles.o
$(generated_frag:.o=.c): $(profiles) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "frag/profile.h"'; \
	echo 'const struct frag_profile_text frag_profile_texts[] = {'; \
	for file in $(profiles); do \
		echo "{\"$$(basename $$file .profile)\","; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$file; echo '},'; done; \
	echo '{NULL, NULL}};'; } >$@
$(generated_frag): $(generated_frag:.o=.c)
	$(CC) $(fl_cppflags) $(CPPFLAGS) $(fl_cflags) $(CFLAGS) -c -o $@ $<

$(BUILD)/libfraglab.a: $(lib_objects)
$(BUILD)/modules.a: $(foreach program,$(programs),$(call modules,$(program)))
$(BUILD)/tests/lib.a: $(filter-out %/digest.o %/nosleep.o,$(call objects,tests/lib))
$(BUILD)/libfraglab.a $(BUILD)/modules.a $(BUILD)/tests/lib.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

define link
@mkdir -p $(@D)
$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(1) $(LDLIBS)
endef

.SECONDEXPANSION:
$(programs:%=$(BUILD)/%): $(BUILD)/%: $$(call objects,$$*) $(BUILD)/libfraglab.a
	$(call link,$(fl_libs))

$(BUILD)/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/tests/lib.a $(BUILD)/modules.a $(BUILD)/libfraglab.a
	$(call link,-lcmocka $(fl_libs))

$(BUILD)/images/sample: $(call objects,images) $(BUILD)/libfraglab.a
	$(call link,$(fl_libs))

# The independent reader: no library of ours.
$(BUILD)/tests/digest: $(patsubst %,$(BUILD)/obj/tests/lib/%.o,digest digest_list digest_inode hash128)
	$(call link,-lext2fs -lcom_err)

# Preloaded where tools would wait for machines that are not there.
$(BUILD)/tests/nosleep.so: tests/lib/nosleep.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -O2 -fPIC -shared -o $@ $<

# Power cuts, swept over all operations.
crash_objects := $(call objects,tests/crash) $(BUILD)/tests/lib.a
$(BUILD)/tests/sweep: $(crash_objects) $(BUILD)/modules.a $(BUILD)/libfraglab.a
	$(call link,$(fl_libs))

# The same with a mover (or an undo file) that has a fault, to show that the sweep finds it.
mutants := $(patsubst tests/crash/mutations/%.patch,$(BUILD)/mutants/%/sweep,\
	$(wildcard tests/crash/mutations/*.patch))
$(mutants): $(BUILD)/mutants/%/sweep: tests/crash/mutations/%.patch \
		$(wildcard common/move/* common/device/*) $(crash_objects) $(BUILD)/modules.a $(BUILD)/libfraglab.a
	@rm -rf $(@D) && mkdir -p $(@D)
	cp -R --parents $$(sed -n 's|^+++ b/\(.*\)/.*|\1|p' $<) $(@D)
	patch -s -p1 -d $(@D) <$<
	$(CC) $(fl_cppflags) $(CPPFLAGS) -std=gnu11 $(CFLAGS) $(LDFLAGS) -o $@ \
		$(@D)/common/*/*.c $(filter %.o %.a,$^) $(fl_libs) $(LDLIBS)

mutants: $(mutants)

# What the kernel tests run on a mounted image.
kernel_tools := $(patsubst tests/kernel/%.c,$(BUILD)/tests/%,$(wildcard tests/kernel/*.c))
$(kernel_tools): $(BUILD)/tests/%: $(BUILD)/obj/tests/kernel/%.o $(BUILD)/libfraglab.a
	$(call link,$(fl_libs) -lm)

# Tools of the bench, one file each.
bench_tools := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
$(bench_tools): $(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(BUILD)/libfraglab.a
	$(call link,$(fl_libs))

# libFuzzer targets, each with what they share; `make fuzz` builds all in $(BUILD)/fuzz by clang.
fuzz_targets := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_shared := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/fuzz/seed*.c))
fuzz_flags := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
$(fuzz_targets): $(BUILD)/%: $(BUILD)/obj/tests/fuzz/%.o $(fuzz_shared) $(BUILD)/modules.a \
		$(BUILD)/libfraglab.a
	$(call link,-fsanitize=fuzzer $(fl_libs))
fuzz-targets-here: $(fuzz_targets)
fuzz-targets:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang WERROR=$(WERROR) \
		CFLAGS="$(fuzz_flags) -fsanitize=fuzzer-no-link,address,undefined" fuzz-targets-here

# What the tests run: programs, tools and unit tests.
tools: all $(BUILD)/images/sample $(BUILD)/tests/digest $(BUILD)/tests/sweep $(kernel_tools) \
	$(BUILD)/tests/nosleep.so
unit-tests: $(unit_tests)
bench-tools: $(bench_tools)

unit: $(unit_tests)
	@for t in $^; do $$t || exit 1; done

# --- with a look after what is installed ---

# No network is touched when nothing is missing. --no-install-recommends keeps it small.
packages:
	@command -v dpkg-query >/dev/null || { \
		echo "make: not a Debian system; install what stands for: $(packages)" >&2; exit 0; }; \
	missing=$$(for package in $(packages); do \
		dpkg-query -W -f='$${db:Status-Status}\n' $$package 2>/dev/null | \
			grep -qx installed || echo $$package; done); \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "make: packages are missing; as root: apt-get install" $$missing >&2; exit 1; fi; \
	echo "installing" $$missing; export DEBIAN_FRONTEND=noninteractive; \
	apt-get install -qy --no-install-recommends $$missing >/dev/null 2>&1 || \
	{ apt-get update -q && apt-get install -qy --no-install-recommends $$missing; }

# The steps run one after the other, also under -j: each may need the one before.
demo:
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory tools
	@BUILD=$(BUILD) images/demo.sh

study:
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory tools
	@BUILD=$(BUILD) images/study.sh

check:
	@$(MAKE) --no-print-directory packages
	@MAKE="$(MAKE)" BUILD=$(BUILD) WERROR=$(WERROR) tests/run

# The long sweep: over 200,000 power cuts; one in five operations failing in every way; every second
# batch the last of a run that is cancelled.
crash:
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory tools
	$(BUILD)/tests/sweep --rounds 6 --second 97 --fault-step 5 --cancel-step 2 --undo-step 7

# On from where the last one ended: 600 seconds for each of three targets, or SECONDS.
fuzz:
	@$(MAKE) --no-print-directory packages
	@MAKE="$(MAKE)" BUILD=$(BUILD) FUZZ_SECONDS=$(or $(SECONDS),600) tests/fuzz/run

# Needs debootstrap, a mirror and root.
rootfs-test:
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory tools
	@BUILD=$(BUILD) tests/kernel/rootfs

# A hundred real kills of the real programs, on 1 GiB.
kills:
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory tools
	@KILLS=100 BUILD=$(BUILD) tests/kills/run

bench:
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory tools bench-tools
	@BUILD=$(BUILD) tests/bench/run

lint:
	clang-format --dry-run -Werror $(sources)
	cppcheck -q --std=c11 --enable=warning,performance,portability --inline-suppr \
		--error-exitcode=1 --suppress=missingIncludeSystem --library=tests/lib/cmocka.cfg \
		$(fl_cppflags) $(filter %.c,$(sources))
	clang -fsyntax-only -Werror $(fl_cppflags) -std=gnu11 $(WARNINGS) $(filter %.c,$(sources))
	tests/man $(wildcard frag/*.8 defrag/*.8)
	$(if $(filter 1,$(TIDY)),clang-tidy --quiet $(filter %.c,$(sources)) -- $(fl_cppflags) -std=gnu11)

fmt:
	clang-format -i $(sources)

install: all
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib include/fraglab share/man/man8 share/fraglab/profiles)
	install $(programs:%=$(BUILD)/%) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/libfraglab.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(headers) $(DESTDIR)$(PREFIX)/include/fraglab
	install -m 644 frag/frag.8 defrag/defrag.8 $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 644 $(profiles) $(DESTDIR)$(PREFIX)/share/fraglab/profiles

uninstall:
	rm -f $(programs:%=$(DESTDIR)$(PREFIX)/bin/%) $(DESTDIR)$(PREFIX)/lib/libfraglab.a
	rm -f $(programs:%=$(DESTDIR)$(PREFIX)/share/man/man8/%.8)
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/,include/fraglab share/fraglab)

clean:
	rm -rf $(BUILD)

help:
	@echo 'all (default)  the programs and the library, in $(BUILD)/'
	@echo 'demo           a sample image, aged and defragmented; everything is checked'
	@echo 'study          the published experiment at full size (50 GB, sparse), beside its figures'
	@echo 'check          all tests; ends with "N passed, N failed"'
	@echo 'unit           the unit tests alone'
	@echo 'kills          a hundred real kills (check has a dozen)'
	@echo 'crash          over 200,000 power cuts (check has over 40,000)'
	@echo 'fuzz           libFuzzer, SECONDS a target (check has a short run)'
	@echo 'rootfs-test    a Debian made by debootstrap still runs afterwards (as root)'
	@echo 'bench          times and I/O counts'
	@echo 'lint, fmt      check the sources; format them (TIDY=1: clang-tidy as well)'
	@echo 'tools          what the tests use: the sample builder, the digest reader'
	@echo 'packages       install the Debian packages that demo and check need (as root)'
	@echo 'install, uninstall   below DESTDIR and PREFIX (/usr/local)'
	@echo 'clean          remove $(BUILD)/'
	@echo 'Variables: BUILD CC CFLAGS CPPFLAGS LDFLAGS LDLIBS; WERROR=1 makes warnings errors.'

.DELETE_ON_ERROR:
.PHONY: all mutants crash kills fuzz fuzz-targets fuzz-targets-here rootfs-test tools bench-tools unit-tests unit packages demo check bench lint fmt install uninstall clean help study
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
