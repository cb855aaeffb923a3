build-asan/obj/common/analyze/compare.o: common/analyze/compare.c \
 include/fraglab/analyze.h include/fraglab/hist.h include/fraglab/error.h \
 include/fraglab/types.h include/fraglab/stream.h include/fraglab/map.h \
 include/fraglab/geometry.h include/fraglab/util.h
include/fraglab/analyze.h:
include/fraglab/hist.h:
include/fraglab/error.h:
include/fraglab/types.h:
include/fraglab/stream.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/util.h:
