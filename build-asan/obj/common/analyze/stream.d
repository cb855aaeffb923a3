build-asan/obj/common/analyze/stream.o: common/analyze/stream.c \
 include/fraglab/stream.h include/fraglab/map.h \
 include/fraglab/geometry.h include/fraglab/types.h \
 include/fraglab/util.h include/fraglab/error.h
include/fraglab/stream.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/types.h:
include/fraglab/util.h:
include/fraglab/error.h:
