// The look-up of names in the place of the C library's: one that never ends, where the environment
// asks for it.
//
//   ARBOR_FAULTS_RESOLVER   the name of a host whose look-up hangs
#if defined(__linux__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int look_up(
    const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(
    const char *node, const char *service, const struct addrinfo *hints,
    struct addrinfo **result) {
  const char *hanging = getenv("ARBOR_FAULTS_RESOLVER");
  while (hanging && node && !strcmp(node, hanging)) pause();
  look_up *library = (look_up *)dlsym(RTLD_NEXT, "getaddrinfo");
  return library ? library(node, service, hints, result) : EAI_SYSTEM;
}
#endif
