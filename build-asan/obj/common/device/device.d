build-asan/obj/common/device/device.o: common/device/device.c \
 include/fraglab/util.h include/fraglab/error.h include/fraglab/types.h \
 common/device/device_private.h include/fraglab/device.h
include/fraglab/util.h:
include/fraglab/error.h:
include/fraglab/types.h:
common/device/device_private.h:
include/fraglab/device.h:
