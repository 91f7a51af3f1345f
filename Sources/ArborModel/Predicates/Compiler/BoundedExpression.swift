package import Foundation

/// A regular expression whose matching ends in bounded time.
///
/// ICU backtracks: `(a+)+b` takes 2ⁿ steps for *n* letters without a b. It reports every 10,000
/// steps, about 0.2 ms, which is when the caller may stop it.
package struct BoundedExpression: Sendable {
  /// What matching a text has led to.
  package enum Outcome: Equatable {
    case found(NSRange)
    case missing
    /// The caller stopped it.
    case stopped
    /// The text takes more than ``maximumSteps``, or more than the 8 MB that ICU keeps for
    /// backtracking.
    case tooComplex
  }

  /// About half a second. An expression without repetitions in repetitions needs a few steps for
  /// each character. Foundation gives up after some 40 million, as if nothing matched.
  package static let maximumSteps = 20_000_000
  private static let stepsPerReport = 10_000

  private let expression: NSRegularExpression

  /// - Throws: If the pattern is malformed.
  package init(_ pattern: String, options: NSRegularExpression.Options = []) throws {
    expression = try NSRegularExpression(pattern: pattern, options: options)
  }

  /// Searches a text for the first match.
  ///
  /// - Parameter mayContinue: Asked about every 0.2 ms.
  package func firstMatch(
    in text: String, anchored: Bool = false, while mayContinue: () -> Bool = { true }
  ) -> Outcome {
    var outcome = Outcome.missing
    var reports = 0
    var options: NSRegularExpression.MatchingOptions = [.reportProgress, .reportCompletion]
    if anchored { options.insert(.anchored) }
    let whole = NSRange(location: 0, length: text.utf16.count)
    withoutActuallyEscaping(mayContinue) { mayContinue in
      expression.enumerateMatches(in: text, options: options, range: whole) { match, flags, stop in
        if let match {
          outcome = .found(match.range)
        } else if flags.contains(.internalError) {
          outcome = .tooComplex
        } else if flags.contains(.progress) {
          reports += 1
          if reports > Self.maximumSteps / Self.stepsPerReport {
            outcome = .tooComplex
          } else if !mayContinue() {
            outcome = .stopped
          } else {
            return
          }
        } else {
          return
        }
        stop.pointee = true
      }
    }
    return outcome
  }
}
