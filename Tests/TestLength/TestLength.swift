import Foundation

/// The length of random tests. A normal run takes minutes. `ARBOR_LONG_TESTS=1` selects the full
/// lengths, which are required once after a change to storage, fetching or merging, and
/// `ARBOR_LONG_TESTS=10` ten times the normal ones.
///
/// ```swift
/// for _ in 0..<TestLength.of(200, long: 10_000) { … }
/// ```
package enum TestLength {
  /// The requested length: 0 for a normal run, 1 for the full lengths, or a multiple of the normal
  /// ones.
  private static let asked: Int = {
    let given = ProcessInfo.processInfo.environment["ARBOR_LONG_TESTS"] ?? ""
    return given.isEmpty ? 0 : Int(given) ?? 1
  }()

  /// Whether `ARBOR_LONG_TESTS` is set to anything other than an empty string or 0.
  package static var isLong: Bool { asked != 0 }

  /// Returns the normal or the long number of rounds, cases or steps.
  package static func of<Count>(_ usual: Count, long: Count) -> Count { isLong ? long : usual }

  /// Returns the normal or the long number, or the requested multiple of the normal one, up to the
  /// long one.
  package static func of(_ usual: Int, long: Int) -> Int {
    asked > 1 ? min(usual * asked, max(usual, long)) : isLong ? long : usual
  }
}
