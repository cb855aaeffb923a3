build-asan/obj/common/analyze/files.o: common/analyze/files.c \
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
