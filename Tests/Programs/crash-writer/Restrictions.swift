import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Limits that a test imposes on the writer: the size of its files and the user it runs as.
struct Restrictions {
  /// The maximum size of a file in bytes. Exceeding it is an error for the writer, not a signal.
  let fileLimit: UInt64?
  /// The user ID to switch to, which requires root.
  let user: UInt32?

  init(environment: [String: String]) {
    fileLimit = environment["CRASH_WRITER_FILE_LIMIT"].flatMap { UInt64($0) }
    user = environment["CRASH_WRITER_USER"].flatMap { UInt32($0) }
  }

  func apply() throws {
    if let fileLimit {
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: rlim_t(fileLimit), rlim_max: rlim_t(fileLimit))
      #if canImport(Glibc)
        let code = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      #else
        let code = setrlimit(RLIMIT_FSIZE, &limit)
      #endif
      if code != 0 { throw LedgerDefect("the file-size limit was refused") }
    }
    if let user, getuid() == 0, setuid(user) != 0 {
      throw LedgerDefect("the change of user was refused")
    }
  }
}
