build-asan/obj/common/map/runs.o: common/map/runs.c include/fraglab/map.h \
 include/fraglab/geometry.h include/fraglab/types.h \
 include/fraglab/util.h include/fraglab/error.h
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/types.h:
include/fraglab/util.h:
include/fraglab/error.h:
