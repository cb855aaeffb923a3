build-asan/obj/common/device/copy.o: common/device/copy.c \
 include/fraglab/util.h include/fraglab/error.h include/fraglab/types.h \
 common/device/device_private.h include/fraglab/device.h
include/fraglab/util.h:
include/fraglab/error.h:
include/fraglab/types.h:
common/device/device_private.h:
include/fraglab/device.h:
