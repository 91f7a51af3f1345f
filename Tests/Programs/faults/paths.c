// Calls on names of files. See faults.c.
#include "calls.h"

#ifdef ARBOR_FAULTS
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>

// Changing names.

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  if (fails_at(from, "renameat2", ANY | ROOM)) return -1;
  int result = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  if (result == 0) record_names(RENAMED, from, to);
  return result;
}
int rename(const char *from, const char *to) {
  if (fails_at(from, "rename", ANY | ROOM)) return -1;
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0) record_names(RENAMED, from, to);
  return result;
}
int link(const char *from, const char *to) {
  if (fails_at(from, "link", ANY | ROOM)) return -1;
  int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0) record_names(LINKED, from, to);
  return result;
}
int unlink(const char *path) {
  if (fails_at(path, "unlink", ANY)) return -1;
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0) record_names(REMOVED, path, NULL);
  return result;
}
int mkdir(const char *path, mode_t mode) {
  if (fails_at(path, "mkdir", ANY | ROOM)) return -1;
  return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int rmdir(const char *path) {
  if (fails_at(path, "rmdir", ANY)) return -1;
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

// What is known of them.

int stat(const char *path, struct stat *status) {
  if (fails_at(path, "stat", ANY)) return -1;
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0);
}
int lstat(const char *path, struct stat *status) {
  if (fails_at(path, "lstat", ANY)) return -1;
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
int access(const char *path, int mode) {
  if (fails_at(path, "access", ANY)) return -1;
  return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}
char *realpath(const char *path, char *resolved) {
  if (fails_at(path, "realpath", ANY)) return NULL;
  char *(*next)(const char *, char *) = dlsym(RTLD_NEXT, "realpath");
  return next(path, resolved);
}
int inotify_add_watch(int descriptor, const char *path, uint32_t events) {
  if (fails_at(path, "inotify_add_watch", ANY | ROOM)) return -1;
  return (int)syscall(SYS_inotify_add_watch, descriptor, path, events);
}

// Folders.

DIR *opendir(const char *path) {
  if (fails_at(path, "opendir", ANY)) return NULL;
  DIR *(*next)(const char *) = dlsym(RTLD_NEXT, "opendir");
  DIR *opened = next(path);
  if (opened) watch(dirfd(opened), is_below(path) ? FOLDER : 0);
  return opened;
}
struct dirent *readdir(DIR *opened) {
  if (fails_on(dirfd(opened), "readdir", ANY)) return NULL;
  struct dirent *(*next)(DIR *) = dlsym(RTLD_NEXT, "readdir");
  return next(opened);
}
struct dirent64 *readdir64(DIR *opened) { return (struct dirent64 *)readdir(opened); }
int closedir(DIR *opened) {
  watch(dirfd(opened), 0);
  int (*next)(DIR *) = dlsym(RTLD_NEXT, "closedir");
  return next(opened);
}
#endif
