build-asan/obj/common/map/map.o: common/map/map.c \
 include/fraglab/blockset.h include/fraglab/error.h \
 include/fraglab/types.h include/fraglab/map.h include/fraglab/geometry.h \
 include/fraglab/util.h
include/fraglab/blockset.h:
include/fraglab/error.h:
include/fraglab/types.h:
include/fraglab/map.h:
include/fraglab/geometry.h:
include/fraglab/util.h:
