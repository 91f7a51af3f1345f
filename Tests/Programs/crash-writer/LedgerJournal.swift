import ArborData
import ArborStore
import Foundation

/// A ledger whose commits go to a journal from the first one on.
enum LedgerJournal {
  /// The options of a store whose first commit creates a journal.
  static var immediate: StoreOptions {
    var options = StoreOptions()
    var limits = JournalLimits()
    limits.beginning = 0
    options.journalLimits = limits
    return options
  }

  /// The environment variable that makes the program use a journal: the number of commits between
  /// checkpoints and, after a comma, the step to omit.
  static let variable = "ARBOR_LEDGER_JOURNAL"

  /// The options for opening a ledger in the environment of the process.
  static var options: StoreOptions {
    var options = StoreOptions()
    let given = ProcessInfo.processInfo.environment[variable]
    guard let parts = given?.split(separator: ","), let commits = parts.first.flatMap({ Int($0) })
    else { return options }
    var limits = JournalLimits()
    limits.beginning = 0
    limits.size = 96 << 10
    limits.entry = 16 << 10
    limits.commits = commits
    limits.idle = 0.05
    if parts.count > 1 { limits.omission = JournalLimits.Omission(rawValue: String(parts[1])) }
    options.journalLimits = limits
    return options
  }
}
