// The store uses only the part of Foundation that doesn't need ICU, whose data alone adds 30 MB to
// a program. The rest is used by ArborLocale and its dependents.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif

#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#endif
