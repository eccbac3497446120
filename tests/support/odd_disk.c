/* A disk that is slow, hangs or knows no locks, for the files below ODD_DISK, in the program that this is loaded into.
   ODD_DISK_SYNC_MS, ODD_DISK_WRITE_MS: how long each takes. ODD_DISK_HOLD: while this file is there, both wait.
   ODD_DISK_LOCKS: "none", every lock fails; "open", every lock is given to everybody. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static int ours(int fd) {
    const char *root = getenv("ODD_DISK");
    char link[64], path[4096];
    if (root == NULL) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strncmp(path, root, strlen(root)) == 0;
}

static void pause_ms(long ms) {
    struct timespec for_time = {ms / 1000, (ms % 1000) * 1000000L};
    nanosleep(&for_time, NULL);
}

static void late(int fd, const char *name) {
    if (!ours(fd)) return;
    const char *ms = getenv(name), *hold = getenv("ODD_DISK_HOLD");
    if (ms != NULL) pause_ms(atol(ms));
    while (hold != NULL && access(hold, F_OK) == 0) pause_ms(5);
}

int fsync(int fd) {
    int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
    late(fd, "ODD_DISK_SYNC_MS");
    return next(fd);
}

int fdatasync(int fd) {
    int (*next)(int) = dlsym(RTLD_NEXT, "fdatasync");
    late(fd, "ODD_DISK_SYNC_MS");
    return next(fd);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    ssize_t (*next)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    late(fd, "ODD_DISK_WRITE_MS");
    return next(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    ssize_t (*next)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    late(fd, "ODD_DISK_WRITE_MS");
    return next(fd, data, size, at);
}

/* What a lock is answered with: -1 fails, 1 is given, 0 asks the system. */
static int odd_lock(int fd) {
    const char *locks = getenv("ODD_DISK_LOCKS");
    if (locks == NULL || !ours(fd)) return 0;
    if (strcmp(locks, "none") != 0) return 1;
    errno = ENOLCK;
    return -1;
}

static int control(const char *name, int fd, int command, void *argument) {
    int (*next)(int, int, ...) = dlsym(RTLD_NEXT, name);
    if (command == F_SETLK || command == F_SETLKW) {
        int answer = odd_lock(fd);
        if (answer != 0) return answer < 0 ? -1 : 0;
    }
    return next(fd, command, argument);
}

int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return control("fcntl", fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return control("fcntl64", fd, command, argument);
}

int flock(int fd, int operation) {
    int (*next)(int, int) = dlsym(RTLD_NEXT, "flock");
    int answer = odd_lock(fd);
    if (answer != 0) return answer < 0 ? -1 : 0;
    return next(fd, operation);
}
