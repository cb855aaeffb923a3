/* SPDX-License-Identifier: MIT */
/*
 * MurmurHash3 x64 128 as a stream. Strong enough to notice accidents; not made to
 * withstand an attacker.
 */
#include <endian.h>
#include <string.h>

#include "tests/lib/digest.h"

static uint64_t rotate(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

static uint64_t finish(uint64_t value)
{
	value ^= value >> 33;
	value *= 0xff51afd7ed558ccdu;
	value ^= value >> 33;
	value *= 0xc4ceb9fe1a85ec53u;
	return value ^ value >> 33;
}

static uint64_t mix_a(uint64_t key)
{
	return rotate(key * 0x87c37b91114253d5u, 31) * 0x4cf5ad432745937fu;
}

static uint64_t mix_b(uint64_t key)
{
	return rotate(key * 0x4cf5ad432745937fu, 33) * 0x87c37b91114253d5u;
}

static void block(struct hash128 *hash, const uint8_t *at)
{
	uint64_t a, b;

	memcpy(&a, at, 8);
	memcpy(&b, at + 8, 8);
	hash->a ^= mix_a(le64toh(a));
	hash->a = (rotate(hash->a, 27) + hash->b) * 5 + 0x52dce729;
	hash->b ^= mix_b(le64toh(b));
	hash->b = (rotate(hash->b, 31) + hash->a) * 5 + 0x38495ab5;
}

void hash128_start(struct hash128 *hash)
{
	*hash = (struct hash128){0};
}

void hash128_add(struct hash128 *hash, const void *data, size_t length)
{
	const uint8_t *at = data;

	hash->bytes += length;
	while (length) {
		size_t part = sizeof(hash->rest) - hash->rest_bytes;

		if (!hash->rest_bytes && length >= sizeof(hash->rest)) {
			block(hash, at);
			at += sizeof(hash->rest);
			length -= sizeof(hash->rest);
			continue;
		}
		if (part > length)
			part = length;
		memcpy(hash->rest + hash->rest_bytes, at, part);
		hash->rest_bytes += part;
		at += part;
		length -= part;
		if (hash->rest_bytes == sizeof(hash->rest)) {
			block(hash, hash->rest);
			hash->rest_bytes = 0;
		}
	}
}

const char *hash128_text(struct hash128 hash, char text[HASH128_TEXT])
{
	uint64_t a, b;

	memset(hash.rest + hash.rest_bytes, 0, sizeof(hash.rest) - hash.rest_bytes);
	memcpy(&a, hash.rest, 8);
	memcpy(&b, hash.rest + 8, 8);
	hash.b ^= mix_b(le64toh(b));
	hash.a ^= mix_a(le64toh(a));
	hash.a ^= hash.bytes;
	hash.b ^= hash.bytes;
	hash.a += hash.b;
	hash.b += hash.a;
	hash.a = finish(hash.a);
	hash.b = finish(hash.b);
	hash.a += hash.b;
	hash.b += hash.a;
	snprintf(text, HASH128_TEXT, "%016llx%016llx", (unsigned long long)hash.a,
		 (unsigned long long)hash.b);
	return text;
}
