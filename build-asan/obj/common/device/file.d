build-asan/obj/common/device/file.o: common/device/file.c \
 include/fraglab/util.h include/fraglab/error.h include/fraglab/types.h \
 common/device/device_private.h include/fraglab/device.h
include/fraglab/util.h:
include/fraglab/error.h:
include/fraglab/types.h:
common/device/device_private.h:
include/fraglab/device.h:
