/// Notes about predicates that are valid, but probably don't mean what their authors expect.
extension BoundNode {
  /// Returns the notes about the predicate, without its values.
  ///
  /// - Parameter arguments: The constants of the tree's `.argument` leaves.
  package func notes(_ arguments: [PropertyValue]) -> [String] {
    let hasForeignWildcard = containsComparison { comparison in
      guard comparison.comparison == .like else { return false }
      switch comparison.right {
      case .constant(.string(let pattern)): return Self.isForeign(pattern)
      case .argument(let index):
        guard index < arguments.count, case .string(let pattern) = arguments[index] else {
          return false
        }
        return Self.isForeign(pattern)
      default: return false
      }
    }
    return hasForeignWildcard
      ? ["In a LIKE pattern, % is an ordinary character. Write * for any run of characters."] : []
  }

  /// Returns whether a pattern of `LIKE` has the wildcard of SQL at its beginning or end, and no
  /// wildcard of its own.
  private static func isForeign(_ pattern: String) -> Bool {
    (pattern.hasPrefix("%") || pattern.hasSuffix("%"))
      && !pattern.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
  }
}
