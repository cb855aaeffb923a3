build-asan/obj/frag/target.o: frag/target.c frag/target.h \
 include/fraglab/plan.h include/fraglab/map.h include/fraglab/geometry.h \
 include/fraglab/types.h include/fraglab/util.h include/fraglab/error.h \
 frag/history.h frag/chain.h include/fraglab/alloc.h frag/schedule.h \
 frag/profile.h
frag/target.h:
include/fraglab/plan.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/types.h:
include/fraglab/util.h:
include/fraglab/error.h:
frag/history.h:
frag/chain.h:
include/fraglab/alloc.h:
frag/schedule.h:
frag/profile.h:
