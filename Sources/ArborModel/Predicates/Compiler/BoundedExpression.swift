package import Foundation

/// A regular expression whose matching time is bounded.
///
/// ICU backtracks: `(a+)+b` takes 2ⁿ steps for *n* letters without a b. ICU reports progress every
/// 10,000 steps (about 0.2 ms), and the caller can stop it then.
package struct BoundedExpression: Sendable {
  /// The result of matching a text.
  package enum Outcome: Equatable {
    case found(NSRange)
    case missing
    /// The caller stopped the match.
    case stopped
    /// Matching exceeds ``maximumSteps``, or ICU's limit of 8 MB for backtracking.
    case tooComplex
  }

  /// The maximum number of steps, about half a second. An expression without nested repetitions
  /// takes a few steps per character. Foundation stops after about 40 million steps and reports no
  /// match.
  package static let maximumSteps = 20_000_000
  private static let stepsPerReport = 10_000

  private let expression: NSRegularExpression

  /// - Throws: An error if the pattern is malformed.
  package init(_ pattern: String, options: NSRegularExpression.Options = []) throws {
    expression = try NSRegularExpression(pattern: pattern, options: options)
  }

  /// Finds the first match in a text.
  ///
  /// - Parameter mayContinue: Called about every 0.2 ms. Returns whether to continue.
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
