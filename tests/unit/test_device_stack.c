/* SPDX-License-Identifier: MIT */
/*
 * Memory devices, windows, overlays and recorders, alone and one on another.
 * Must not touch the disk.
 */
#include "tests/unit/device_fake.h"

/* --- memory --- */

static void test_memory(void **state)
{
	struct fl_device *device;
	uint64_t size = 200 * KIB + 3;

	(void)state;
	assert_int_equal(fl_device_memory(size, &device), 0);
	assert_int_equal(device->size_bytes, size);
	assert_true(device->sparse);
	assert_false(device->read_only);
	assert_device(device, size, 0, 0);
	assert_run(device, 0, size, 0);
	fill(device, 3, size - 3, 9);
	assert_device(device, 3, size - 3, 9);
	assert_run(device, 0, 3 * PAGE, size - 3 * PAGE);
	fill(device, 2, PAGE - 1, 8);
	assert_device(device, 2, PAGE - 1, 8);
	assert_run(device, 0, 0, 2 * PAGE);
	assert_run(device, 100, 100, 2 * PAGE - 100);
	assert_int_equal(fl_device_clear(device, PAGE + 1, 0), 0);
	assert_run(device, 0, PAGE, PAGE);
	assert_device(device, 2 * PAGE, 0, 0);
	assert_int_equal(fl_device_clear(device, size, 0), 0);
	assert_run(device, 0, size, 0);
	assert_int_equal(fl_device_flush(device), 0);
	fl_device_close(device);

	assert_int_equal(fl_device_memory(0, &device), 0);
	assert_run(device, 0, 0, 0);
	fl_device_close(device);
}

/* 16 TiB and the largest there can be: finding things must not walk the emptiness. */
static void test_memory_huge(void **state)
{
	const uint64_t sizes[] = {UINT64_C(1) << 44, UINT64_MAX, (UINT64_C(1) << 25),
				  (UINT64_C(1) << 25) + 1};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t size = sizes[i], last = (size - 1) / PAGE * PAGE;
		struct fl_device *device;
		bool hole;

		assert_int_equal(fl_device_memory(size, &device), 0);
		fill(device, 1, size - 1, 1);
		assert_run(device, 0, last, size - last);
		fill(device, 1, size / 2, 2);
		assert_run(device, 0, size / 2 / PAGE * PAGE, PAGE);
		assert_run(device, size / 2 / PAGE * PAGE + PAGE, last, size - last);
		assert_int_equal(fl_device_is_hole(device, size / 4, PAGE, &hole), 0);
		assert_true(hole);
		assert_device(device, 1, size - 1, 1);
		assert_device(device, 1, size / 2, 2);
		fl_device_close(device);
	}
}

/* --- window --- */

static void test_window(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *below = &fake->device, *window = NULL;
	uint64_t size = below->size_bytes;

	(void)state;
	assert_int_equal(fl_device_window(below, 1, size, &window), FL_EINVAL);
	assert_int_equal(fl_device_window(below, size, 1, &window), FL_EINVAL);
	assert_int_equal(fl_device_window(below, UINT64_MAX, 2, &window), FL_EINVAL);
	assert_null(window);
	fake->ops.punch = fake_punch;
	fake->ops.data_next = fake_data_next;
	below->sparse = true;
	assert_int_equal(fl_device_window(below, 10000, 1000, &window), 0);
	assert_int_equal(window->size_bytes, 10000);
	assert_true(window->sparse);
	assert_non_null(window->ops->punch);
	assert_null(window->ops->zero);

	fill(window, 10, 0, 1);
	fill(window, 10, 9990, 2);
	assert_bytes(fake->bytes, 1000, 0xaa);
	assert_bytes(fake->bytes + 1000, 10, 1);
	assert_bytes(fake->bytes + 10990, 10, 2);
	assert_bytes(fake->bytes + 11000, 1000, 0xaa);
	assert_device(window, 10, 9990, 2);
	assert_int_equal(fl_device_write(window, fake->bytes, 1, 10000), FL_EINVAL);
	assert_int_equal(fl_device_clear(window, 100, 50), 0);
	assert_bytes(fake->bytes + 1050, 100, 0);
	assert_int_equal(fake->bytes[1049], 0xaa);
	assert_int_equal(fl_device_flush(window), 0);
	assert_int_equal(fake->flushes, 1);

	/* Data of below: around, before, in and behind the window. */
	fake->data_start = 500;
	fake->data_length = 20000;
	assert_run(window, 0, 0, 10000);
	assert_run(window, 9999, 9999, 1);
	fake->data_length = 500;
	assert_run(window, 0, 10000, 0);
	fake->data_start = 2000;
	assert_run(window, 0, 1000, 500);
	assert_run(window, 1200, 1200, 300);
	fake->data_start = 11000;
	assert_run(window, 0, 10000, 0);
	fl_device_close(window);

	/* What below cannot do, or says that it cannot, falls back through the window. */
	fake->ops.punch = cannot;
	fake->ops.data_next = NULL;
	assert_int_equal(fl_device_window(below, 10000, 1000, &window), 0);
	assert_int_equal(fl_device_clear(window, 10000, 0), 0);
	assert_bytes(fake->bytes + 1000, 10000, 0);
	assert_int_equal(fake->bytes[11000], 0xaa);
	fl_device_close(window);

	below->read_only = true;
	assert_int_equal(fl_device_window(below, 0, size, &window), 0);
	assert_true(window->read_only);
	assert_run(window, 0, 0, 0);
	fl_device_close(window);
	fl_device_close(below);
}

/* --- overlay --- */

static void test_overlay(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *below = &fake->device, *overlay;
	uint64_t size = below->size_bytes;

	(void)state;
	below->read_only = true;
	fake->ops.punch = fake_punch;
	assert_int_equal(fl_device_overlay(below, &overlay), 0);
	assert_false(overlay->read_only);
	assert_false(overlay->sparse);
	assert_int_equal(overlay->size_bytes, size);
	assert_device(overlay, size, 0, 0xaa);

	fill(overlay, 100, PAGE - 50, 1);
	assert_device(overlay, PAGE - 50, 0, 0xaa);
	assert_device(overlay, 100, PAGE - 50, 1);
	assert_device(overlay, size - PAGE - 50, PAGE + 50, 0xaa);
	/* A whole page is not read first. */
	fake->reads = 0;
	fill(overlay, PAGE, 3 * PAGE, 2);
	assert_int_equal(fake->reads, 0);
	assert_device(overlay, PAGE, 3 * PAGE, 2);

	assert_int_equal(fl_device_clear(overlay, PAGE + 10, PAGE), 0);
	assert_device(overlay, 50, PAGE - 50, 1);
	assert_device(overlay, PAGE + 10, PAGE, 0);
	assert_device(overlay, PAGE - 10, 2 * PAGE + 10, 0xaa);
	/* Back from zero to data. */
	fill(overlay, 1, PAGE + 7, 3);
	assert_device(overlay, 7, PAGE, 0);
	assert_device(overlay, 1, PAGE + 7, 3);
	assert_device(overlay, PAGE - 8, PAGE + 8, 0);

	assert_int_equal(fl_device_flush(overlay), 0);
	assert_int_equal(fake->flushes + fake->writes + fake->punches, 0);
	assert_bytes(fake->bytes, sizeof(fake->bytes), 0xaa);
	fl_device_close(overlay);
	/* Forgotten. */
	assert_int_equal(fl_device_overlay(below, &overlay), 0);
	assert_device(overlay, size, 0, 0xaa);
	fl_device_close(overlay);
	fl_device_close(below);
}

static void test_overlay_data(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *below = &fake->device, *overlay;
	uint64_t size = below->size_bytes;

	(void)state;
	memset(fake->bytes, 0, sizeof(fake->bytes));
	memset(fake->bytes + PAGE + 100, 0xaa, PAGE);
	fake->ops.data_next = fake_data_next;
	fake->data_start = PAGE + 100;
	fake->data_length = PAGE;
	below->sparse = true;
	assert_int_equal(fl_device_overlay(below, &overlay), 0);
	assert_true(overlay->sparse);
	assert_run(overlay, 0, PAGE + 100, PAGE);
	assert_run(overlay, 2 * PAGE + 100, size, 0);
	fill(overlay, 1, 3 * PAGE + 5, 1);
	assert_run(overlay, 0, PAGE + 100, PAGE);
	assert_run(overlay, 2 * PAGE + 100, 3 * PAGE, PAGE);
	/* The first page of below's run punched: only its rest is left. */
	assert_int_equal(fl_device_clear(overlay, PAGE, PAGE), 0);
	assert_run(overlay, 0, 2 * PAGE, 100);
	assert_int_equal(fl_device_clear(overlay, PAGE, 2 * PAGE), 0);
	assert_run(overlay, 0, 3 * PAGE, PAGE);
	fill(overlay, 1, 0, 1);
	assert_run(overlay, 0, 0, PAGE);
	assert_run(overlay, PAGE, 3 * PAGE, PAGE);
	/* A hole punched into the middle of one run of below. */
	fl_device_close(overlay);
	assert_int_equal(fl_device_overlay(below, &overlay), 0);
	fake->data_start = 0;
	fake->data_length = size;
	assert_int_equal(fl_device_clear(overlay, PAGE, 2 * PAGE), 0);
	assert_run(overlay, 5, 5, 2 * PAGE - 5);
	assert_run(overlay, 2 * PAGE, 3 * PAGE, size - 3 * PAGE);
	fake->fail = FL_EIO;
	assert_int_equal(fl_device_data_next(overlay, PAGE, &size, &size), FL_EIO);
	fl_device_close(overlay);
	fl_device_close(below);
}

static uint64_t seed(void)
{
	const char *text = getenv("SEED");
	uint64_t value = text ? strtoull(text, NULL, 0) : 1;

	print_message("SEED=%llu\n", (unsigned long long)value);
	return value;
}

/* Reads as the model does, and what lies between the runs of data is zero. */
static void assert_same(struct fl_device *device, const uint8_t *model)
{
	uint64_t size = device->size_bytes, position = 0, start, length;
	uint8_t *bytes = malloc((size_t)size);

	assert_non_null(bytes);
	assert_int_equal(fl_device_read(device, bytes, (size_t)size, 0), 0);
	assert_memory_equal(bytes, model, size);
	free(bytes);
	do {
		assert_int_equal(fl_device_data_next(device, position, &start, &length), 0);
		assert_true(start >= position && start <= size && length <= size - start);
		assert_bytes(model + position, (size_t)(start - position), 0);
		position = start + length;
	} while (length);
	assert_int_equal(start, size);
}

/* A window over an overlay over a recorder over memory against an array. */
static void test_random(void **state)
{
	enum { SIZE = 10 * 65536 + 777, BASE = 30000, INNER = SIZE - 2 * BASE };
	uint8_t *model = malloc(SIZE), *below_model = malloc(SIZE);
	struct fl_device *memory, *overlay, *window;
	struct fl_rng rng;
	int round;

	(void)state;
	assert_true(model && below_model);
	fl_rng_seed(&rng, seed());
	assert_int_equal(fl_device_memory(SIZE, &memory), 0);
	memset(below_model, 0, SIZE);
	for (round = 0; round < 6; round++) {
		uint64_t position = fl_rng_below(&rng, SIZE - 1000);

		fill(memory, 1000, position, (uint8_t)(round + 1));
		memset(below_model + position, round + 1, 1000);
	}
	memcpy(model, below_model, SIZE);
	assert_int_equal(fl_device_overlay(memory, &overlay), 0);
	assert_int_equal(fl_device_window(overlay, INNER, BASE, &window), 0);
	for (round = 0; round < 400; round++) {
		uint64_t position = fl_rng_below(&rng, INNER + 1);
		uint64_t most = fl_rng_chance(&rng, 1, 2) ? 100 : 3 * PAGE;
		uint64_t length = fl_min(fl_rng_below(&rng, most), INNER - position);
		uint8_t value = (uint8_t)fl_rng_below(&rng, 256);

		if (fl_rng_chance(&rng, 1, 4)) /* whole pages */
			position -= fl_min((position + BASE) % PAGE, position);
		if (fl_rng_chance(&rng, 1, 2)) {
			fill(window, length, position, value);
		} else {
			assert_int_equal(fl_device_clear(window, length, position), 0);
			value = 0;
		}
		memset(model + BASE + position, value, length);
		if (round % 10 == 0) {
			assert_same(overlay, model);
			assert_same(window, model + BASE);
		}
	}
	assert_same(window, model + BASE);
	assert_same(overlay, model);
	assert_same(memory, below_model);
	fl_device_close(window);
	fl_device_close(overlay);
	fl_device_close(memory);
	free(model);
	free(below_model);
}

/* --- recorder --- */

struct log {
	struct fl_device_event events[16];
	size_t count;
	int refuse;
	struct fake *fake;
	int done_before; /* operations that had reached below when the last event came */
};

static int observe(void *context, const struct fl_device_event *event)
{
	struct log *log = context;

	assert_true(log->count < 16);
	log->events[log->count++] = *event;
	log->done_before = log->fake->reads + log->fake->writes + log->fake->punches +
			   log->fake->zeros + log->fake->flushes;
	return log->refuse;
}

static void assert_event(const struct log *log, size_t i, enum fl_device_op op, uint64_t length,
			 uint64_t position)
{
	assert_true(i < log->count);
	assert_int_equal(log->events[i].op, op);
	assert_int_equal(log->events[i].length, length);
	assert_int_equal(log->events[i].position, position);
}

static void test_recorder(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *below = &fake->device, *recorder = NULL;
	struct log log = {.fake = fake};
	uint8_t bytes[10] = {1, 2, 3};

	(void)state;
	assert_int_equal(fl_device_recorder(below, NULL, NULL, &recorder), FL_EINVAL);
	fake->ops.punch = fake_punch;
	fake->ops.zero = fake_zero;
	fake->ops.data_next = fake_data_next;
	fake->data_start = 4;
	fake->data_length = 5;
	below->sparse = true;
	assert_int_equal(fl_device_recorder(below, observe, &log, &recorder), 0);
	assert_true(recorder->sparse);
	assert_int_equal(recorder->size_bytes, below->size_bytes);
	assert_int_equal(fl_device_write(recorder, bytes, 10, 20), 0);
	assert_int_equal(log.done_before, 0);
	assert_int_equal(fl_device_read(recorder, bytes, 3, 20), 0);
	assert_int_equal(fl_device_flush(recorder), 0);
	assert_int_equal(fl_device_clear(recorder, 4096, 0), 0);
	recorder->sparse = false;
	assert_int_equal(fl_device_clear(recorder, 4096, 8192), 0);
	assert_int_equal(log.done_before, 4);
	assert_int_equal(log.count, 5);
	assert_event(&log, 0, FL_OP_WRITE, 10, 20);
	assert_event(&log, 1, FL_OP_READ, 3, 20);
	assert_event(&log, 2, FL_OP_FLUSH, 0, 0);
	assert_event(&log, 3, FL_OP_PUNCH, 4096, 0);
	assert_event(&log, 4, FL_OP_ZERO, 4096, 8192);
	assert_run(recorder, 0, 4, 5);
	assert_int_equal(log.count, 5);

	/* A refusal reaches nobody below. */
	log.refuse = FL_ECANCELLED;
	assert_int_equal(fl_device_write(recorder, bytes, 1, 0), FL_ECANCELLED);
	assert_int_equal(fl_device_read(recorder, bytes, 1, 0), FL_ECANCELLED);
	assert_int_equal(fl_device_flush(recorder), FL_ECANCELLED);
	assert_int_equal(fl_device_clear(recorder, 1, 0), FL_ECANCELLED);
	assert_int_equal(fake->writes, 1);
	assert_int_equal(fake->reads, 1);
	assert_int_equal(fake->flushes, 1);
	assert_int_equal(fake->zeros, 1);
	/* Out of range: not even an event. */
	log.count = 0;
	assert_int_equal(fl_device_read(recorder, bytes, 2, below->size_bytes - 1), FL_EINVAL);
	assert_int_equal(log.count, 0);
	fl_device_close(recorder);

	/* Without punch and zero below, a clear shows as the writes that it is. */
	log.refuse = 0;
	fake->ops.punch = fake->ops.zero = NULL;
	assert_int_equal(fl_device_recorder(below, observe, &log, &recorder), 0);
	recorder->sparse = false;
	assert_int_equal(fl_device_clear(recorder, 65537, 1), 0);
	assert_int_equal(log.count, 2);
	assert_event(&log, 0, FL_OP_WRITE, 65536, 1);
	assert_event(&log, 1, FL_OP_WRITE, 1, 65537);
	fl_device_close(recorder);
	fl_device_close(below);
}

static int ignore(void *context, const struct fl_device_event *event)
{
	(void)context, (void)event;
	return 0;
}

/* Advice reaches the bottom; who keeps nothing need not know. */
static void advice_goes_down(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *window, *recorder, *overlay;

	(void)state;
	assert_int_equal(fl_device_window(&fake->device, 4096, 512, &window), 0);
	assert_int_equal(fl_device_recorder(window, ignore, NULL, &recorder), 0);
	assert_int_equal(fl_device_overlay(recorder, &overlay), 0);
	fl_device_advise(overlay, FL_ADVICE_FORGET, 512, 1024);
	assert_int_equal(fake->advised_length, 0);
	fake->ops.advise = fake_advise;
	fl_device_advise(overlay, FL_ADVICE_FORGET, 512, 1024);
	assert_int_equal(fake->advice, FL_ADVICE_FORGET);
	assert_int_equal(fake->advised_start, 1536);
	assert_int_equal(fake->advised_length, 512);
	fl_device_advise(overlay, FL_ADVICE_FORGET, 512, 4096);
	fl_device_advise(overlay, FL_ADVICE_FORGET, 0, 0);
	assert_int_equal(fake->advised_start, 1536);
	fl_device_advise(recorder, FL_ADVICE_SOON, 1024, 2048);
	assert_int_equal(fake->advice, FL_ADVICE_SOON);
	assert_int_equal(fake->advised_start, 2560);
	fl_device_close(overlay);
	fl_device_close(recorder);
	fl_device_close(window);
	fl_device_close(&fake->device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(advice_goes_down), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_huge), cmocka_unit_test(test_window),
		cmocka_unit_test(test_overlay),	    cmocka_unit_test(test_overlay_data),
		cmocka_unit_test(test_random),	    cmocka_unit_test(test_recorder),
	};

	return cmocka_run_group_tests_name("device_stack", tests, NULL, NULL);
}
