build-asan/obj/frag/schedule.o: frag/schedule.c frag/schedule.h \
 include/fraglab/map.h include/fraglab/geometry.h include/fraglab/types.h \
 include/fraglab/util.h include/fraglab/error.h frag/profile.h
frag/schedule.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/types.h:
include/fraglab/util.h:
include/fraglab/error.h:
frag/profile.h:
