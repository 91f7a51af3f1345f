import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A measurement of one phase, which prints its line: `op wall_s cpu_s count checksum peak_rss_kB
/// rss_kB_at_start`.
///
/// The peak memory is reset at the start of each phase if the system allows it.
struct Meter {
  private let wallStart: Double
  private let processorStart: Double
  private let memoryStart: Int

  /// Starts a phase.
  init() {
    let file = open("/proc/self/clear_refs", O_WRONLY)
    if file >= 0 {
      _ = write(file, "5", 1)
      close(file)
    }
    memoryStart = Self.status("VmRSS")
    wallStart = Self.time(CLOCK_MONOTONIC)
    processorStart = Self.time(CLOCK_PROCESS_CPUTIME_ID)
  }

  /// Ends the phase and prints its line; times are divided by the number of `repetitions`.
  func report(_ name: String, count: Int, checksum: UInt64, repetitions: Int = 1) {
    let wall = Self.time(CLOCK_MONOTONIC) - wallStart
    let processor = Self.time(CLOCK_PROCESS_CPUTIME_ID) - processorStart
    let times = [wall, processor].map { String(format: "%.9f", $0 / Double(repetitions)) }
    Self.printLine([
      name, times[0], times[1], "\(count)", "\(checksum)", "\(Self.status("VmHWM"))",
      "\(memoryStart)",
    ])
  }

  /// The prefixes of the operations to run, from the comma-separated environment variable
  /// `ARBOR_OPERATION`, such as `7_`. Useful for profiles. Without it, all operations run.
  private static let selected = ProcessInfo.processInfo.environment["ARBOR_OPERATION"] ?? ""

  /// Returns whether an operation is selected.
  static func isSelected(_ name: String) -> Bool {
    selected.isEmpty || selected.split(separator: ",").contains { name.hasPrefix($0) }
  }

  /// Measures a phase that returns its count and checksum.
  static func measure(
    _ name: String, repetitions: Int = 1, _ body: () throws -> (Int, UInt64)
  ) rethrows {
    guard isSelected(name) else { return }
    let meter = Meter()
    let (count, checksum) = try body()
    meter.report(name, count: count, checksum: checksum, repetitions: repetitions)
  }

  /// Writes a line immediately, so that the results of a run that crashes later aren't lost.
  static func printLine(_ columns: [String]) {
    FileHandle.standardOutput.write(Data((columns.joined(separator: "\t") + "\n").utf8))
  }

  /// Returns the time of a clock in seconds.
  static func time(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The anonymous memory of the process, in kB.
  static var anonymousMemory: Int { status("RssAnon") }

  /// The peak of the anonymous memory since the last ``init()``, in kB, provided that pages of files
  /// that were read by then are still in memory.
  static var peakAnonymousMemory: Int { status("VmHWM") - status("RssFile") - status("RssShmem") }

  /// Returns a value of `/proc/self/status` in kB, or -1 if it doesn't exist.
  private static func status(_ key: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) })
    else { return -1 }
    return Int(line.split(whereSeparator: { " \t".contains($0) }).dropFirst().first ?? "") ?? -1
  }
}

/// The duration of a call in seconds.
struct CallTime {
  let wall: Double
  let processor: Double

  init(_ body: () throws -> Void) rethrows {
    let start = (Meter.time(CLOCK_MONOTONIC), Meter.time(CLOCK_PROCESS_CPUTIME_ID))
    try body()
    wall = Meter.time(CLOCK_MONOTONIC) - start.0
    processor = Meter.time(CLOCK_PROCESS_CPUTIME_ID) - start.1
  }

  static func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }
}
