build-asan/obj/frag/profile.o: frag/profile.c frag/profile.h \
 include/fraglab/error.h include/fraglab/types.h
frag/profile.h:
include/fraglab/error.h:
include/fraglab/types.h:
