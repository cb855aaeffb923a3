build-asan/obj/common/device/pages.o: common/device/pages.c \
 common/device/pages.h include/fraglab/types.h
common/device/pages.h:
include/fraglab/types.h:
