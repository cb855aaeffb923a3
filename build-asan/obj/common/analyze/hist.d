build-asan/obj/common/analyze/hist.o: common/analyze/hist.c \
 include/fraglab/hist.h include/fraglab/error.h include/fraglab/types.h
include/fraglab/hist.h:
include/fraglab/error.h:
include/fraglab/types.h:
