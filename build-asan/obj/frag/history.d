build-asan/obj/frag/history.o: frag/history.c frag/history.h frag/chain.h \
 include/fraglab/alloc.h include/fraglab/map.h include/fraglab/geometry.h \
 include/fraglab/types.h include/fraglab/util.h include/fraglab/error.h \
 frag/schedule.h frag/profile.h frag/temporary.h
frag/history.h:
frag/chain.h:
include/fraglab/alloc.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/types.h:
include/fraglab/util.h:
include/fraglab/error.h:
frag/schedule.h:
frag/profile.h:
frag/temporary.h:
