#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What the system calls a process.
package enum ProcessName {
  /// The name of a running process; nil where it is gone, or the system does not tell.
  package static func of(_ processID: Int32) -> String? {
    let descriptor = open("/proc/\(processID)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Linux cuts names after 15 bytes.
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
  }
}
