build-asan/obj/common/analyze/free.o: common/analyze/free.c \
 common/analyze/parts.h include/fraglab/analyze.h include/fraglab/hist.h \
 include/fraglab/error.h include/fraglab/types.h include/fraglab/stream.h \
 include/fraglab/map.h include/fraglab/geometry.h include/fraglab/util.h
common/analyze/parts.h:
include/fraglab/analyze.h:
include/fraglab/hist.h:
include/fraglab/error.h:
include/fraglab/types.h:
include/fraglab/stream.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/util.h:
