build-asan/obj/common/device/attached.o: common/device/attached.c \
 common/device/device_private.h include/fraglab/device.h \
 include/fraglab/error.h include/fraglab/types.h
common/device/device_private.h:
include/fraglab/device.h:
include/fraglab/error.h:
include/fraglab/types.h:
