build-asan/obj/frag/temporary.o: frag/temporary.c frag/temporary.h \
 frag/chain.h include/fraglab/alloc.h include/fraglab/map.h \
 include/fraglab/geometry.h include/fraglab/types.h \
 include/fraglab/util.h include/fraglab/error.h frag/schedule.h \
 frag/profile.h
frag/temporary.h:
frag/chain.h:
include/fraglab/alloc.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/types.h:
include/fraglab/util.h:
include/fraglab/error.h:
frag/schedule.h:
frag/profile.h:
