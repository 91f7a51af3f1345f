import Foundation

/// How much the random tests do. A usual run takes minutes; `ARBOR_LONG_TESTS=1` asks for the full
/// lengths, which a change to storage, fetching or merging has to pass once, and
/// `ARBOR_LONG_TESTS=10` for ten times the usual ones.
///
/// ```swift
/// for _ in 0..<TestLength.of(200, long: 10_000) { … }
/// ```
package enum TestLength {
  /// What the environment asks for: 0 for a usual run, 1 for full lengths, else how many times the
  /// usual ones.
  private static let asked: Int = {
    let given = ProcessInfo.processInfo.environment["ARBOR_LONG_TESTS"] ?? ""
    return given.isEmpty ? 0 : Int(given) ?? 1
  }()

  /// Whether the environment asks for more than a usual run: `ARBOR_LONG_TESTS` is set, to anything
  /// but nothing and 0.
  package static var isLong: Bool { asked != 0 }

  /// A number of rounds, cases or steps: the usual one, or the one of a long run.
  package static func of<Count>(_ usual: Count, long: Count) -> Count { isLong ? long : usual }

  /// The same for a whole number, which a run of some times the usual length multiplies.
  package static func of(_ usual: Int, long: Int) -> Int {
    asked > 1 ? min(usual * asked, max(usual, long)) : isLong ? long : usual
  }
}
