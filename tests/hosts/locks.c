/* Stands in for a file system: every lock fails, or every lock is granted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <dlfcn.h>
#ifdef FAIL
#define ANSWER (errno = FAIL, -1)
#else
#define ANSWER 0
#endif
static int is_lock(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
static int answer(const char *name, int handle, int command, void *given) {
    int (*real)(int, int, ...) = (int (*)(int, int, ...)) dlsym(RTLD_NEXT, name);
    if (!is_lock(command)) return real(handle, command, given);
    return ANSWER;
}
int fcntl(int handle, int command, ...) {
    va_list rest; va_start(rest, command); void *given = va_arg(rest, void *); va_end(rest);
    return answer("fcntl", handle, command, given);
}
int fcntl64(int handle, int command, ...) {
    va_list rest; va_start(rest, command); void *given = va_arg(rest, void *); va_end(rest);
    return answer("fcntl64", handle, command, given);
}
int flock(int handle, int how) {
    return ANSWER;
}
