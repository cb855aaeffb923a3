build-asan/obj/common/device/overlay.o: common/device/overlay.c \
 include/fraglab/util.h include/fraglab/error.h include/fraglab/types.h \
 common/device/device_private.h include/fraglab/device.h \
 common/device/pages.h
include/fraglab/util.h:
include/fraglab/error.h:
include/fraglab/types.h:
common/device/device_private.h:
include/fraglab/device.h:
common/device/pages.h:
