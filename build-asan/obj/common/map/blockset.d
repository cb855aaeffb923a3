build-asan/obj/common/map/blockset.o: common/map/blockset.c \
 include/fraglab/blockset.h include/fraglab/error.h \
 include/fraglab/types.h include/fraglab/util.h
include/fraglab/blockset.h:
include/fraglab/error.h:
include/fraglab/types.h:
include/fraglab/util.h:
