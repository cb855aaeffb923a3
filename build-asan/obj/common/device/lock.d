build-asan/obj/common/device/lock.o: common/device/lock.c \
 common/device/device_private.h include/fraglab/device.h \
 include/fraglab/error.h include/fraglab/types.h
common/device/device_private.h:
include/fraglab/device.h:
include/fraglab/error.h:
include/fraglab/types.h:
