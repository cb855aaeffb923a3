# SPDX-License-Identifier: MIT
# Builds fraglab out of tree, in build/. `make help` lists the targets.

BUILD ?= build
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wconversion
fl_cppflags := -Iinclude -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
fl_cflags := -std=gnu11 $(WARNINGS) -MMD -MP
fl_libs := -lext2fs -lcom_err -ljansson

lib_sources := $(wildcard common/*/*.c)
lib_objects := $(lib_sources:%.c=$(BUILD)/obj/%.o)
programs := frag defrag
unit_tests := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/test_*.c))

all: $(programs:%=$(BUILD)/%)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(fl_cppflags) $(CPPFLAGS) $(fl_cflags) $(CFLAGS) -c -o $@ $<

$(BUILD)/libfraglab.a: $(lib_objects)
	$(AR) rcs $@ $^

.SECONDEXPANSION:
$(programs:%=$(BUILD)/%): $(BUILD)/%: $$(patsubst %.c,$(BUILD)/obj/%.o,$$(wildcard $$*/*.c)) $(BUILD)/libfraglab.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(fl_libs) $(LDLIBS)

$(BUILD)/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libfraglab.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(fl_libs) $(LDLIBS)

unit: $(unit_tests)
	@for t in $^; do $$t || exit 1; done

clean:
	rm -rf $(BUILD)

.PHONY: all unit clean
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

tools := images/sample
$(BUILD)/images/sample: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard images/*.c)) $(BUILD)/libfraglab.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(fl_libs) $(LDLIBS)
