build-asan/obj/frag/chain.o: frag/chain.c frag/chain.h \
 include/fraglab/alloc.h include/fraglab/map.h include/fraglab/geometry.h \
 include/fraglab/types.h include/fraglab/util.h include/fraglab/error.h
frag/chain.h:
include/fraglab/alloc.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/types.h:
include/fraglab/util.h:
include/fraglab/error.h:
