internal import ArborModel
internal import Foundation

/// A regular expression of ICU, with bounded matching time.
///
/// ICU backtracks: `(a+)+b` takes 2ⁿ steps for *n* letters without a b. It reports progress every
/// 10,000 steps, about 0.2 ms, when the caller can stop it.
struct ICUExpression: BoundedExpression {
  /// The maximum number of steps, about half a second. An expression without nested repetitions
  /// takes a few steps per character. Foundation stops after about 40 million and reports no match.
  /// ICU also limits the memory for backtracking to 8 MB.
  private static let maximumSteps = 20_000_000
  private static let stepsPerReport = 10_000

  private let expression: NSRegularExpression

  /// - Throws: An error if the pattern is malformed.
  init(_ pattern: String, ignoresCase: Bool) throws {
    expression = try NSRegularExpression(
      pattern: pattern, options: ignoresCase ? .caseInsensitive : [])
  }

  func firstMatch(
    in text: String, anchored: Bool, while mayContinue: () -> Bool
  ) -> MatchOutcome {
    var outcome = MatchOutcome.missing
    var reports = 0
    var options: NSRegularExpression.MatchingOptions = [.reportProgress, .reportCompletion]
    if anchored { options.insert(.anchored) }
    let whole = NSRange(location: 0, length: text.utf16.count)
    withoutActuallyEscaping(mayContinue) { mayContinue in
      expression.enumerateMatches(in: text, options: options, range: whole) { match, flags, stop in
        if let match {
          outcome = .found(match.range.lowerBound..<match.range.upperBound)
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
