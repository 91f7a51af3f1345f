import Foundation

/// How much the random tests do. A usual run takes minutes; `ARBOR_LONG_TESTS=1` asks for the full
/// lengths, which a change to storage, fetching or merging has to pass once.
///
/// ```swift
/// for _ in 0..<TestLength.of(200, long: 10_000) { … }
/// ```
package enum TestLength {
  /// Whether the environment asks for the full lengths: `ARBOR_LONG_TESTS` is set, to anything but
  /// nothing and 0.
  package static let isLong: Bool = {
    let given = ProcessInfo.processInfo.environment["ARBOR_LONG_TESTS"] ?? ""
    return !["", "0"].contains(given)
  }()

  /// A number of rounds, cases or steps: the usual one, or the one of a long run.
  package static func of<Count>(_ usual: Count, long: Count) -> Count { isLong ? long : usual }
}
