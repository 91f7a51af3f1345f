/// What came of adding an entry to a log.
public enum AppendResult: Sendable, Hashable {
  /// It is in the log, and every copy of the store will have it.
  case written
  /// Others were faster: these follow what the adder knew, oldest first. At least one, not
  /// necessarily all.
  case behind([LogEntry])
  /// What it would follow is not in the log: the log has lost its end, or another history.
  case forked
  /// Nobody knows: the answer was lost. A store that adds the same entry again learns it.
  case unknown
}
