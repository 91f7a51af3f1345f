/// Suggests the known name that was most likely meant by an unknown one.
package enum NearestName {
  /// Returns the known name closest to an unknown one, or `nil` if none is close.
  ///
  /// A name is close if it differs by at most one edit per three characters: an omitted, added,
  /// wrong or transposed letter. Case is ignored. If several names qualify, the closest is
  /// returned; among equally close ones, the first.
  ///
  /// ```swift
  /// NearestName.of("agee", in: ["name", "age"])  // "age"
  /// ```
  package static func of(_ unknown: String, in names: some Sequence<String>) -> String? {
    let wanted = Array(unknown.lowercased().utf16)
    var best: String?
    var bestDistance = max(1, wanted.count / 3) + 1
    for name in names {
      let candidate = Array(name.lowercased().utf16)
      guard abs(candidate.count - wanted.count) < bestDistance else { continue }
      let distance = distance(wanted, candidate)
      // Two short names without a common letter would otherwise count as close.
      guard distance < bestDistance, distance < max(wanted.count, candidate.count) else { continue }
      bestDistance = distance
      best = name
    }
    return best
  }

  /// Returns a suggestion of the closest name as a sentence with a leading space, or an empty
  /// string if no name is close.
  package static func hint(_ unknown: String, in names: some Sequence<String>) -> String {
    of(unknown, in: names).map { " Did you mean \($0)?" } ?? ""
  }

  /// Returns the optimal string alignment distance: insertions, deletions, substitutions and
  /// transpositions of adjacent characters, without edits inside a transposition.
  private static func distance(_ left: [UInt16], _ right: [UInt16]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      current.reserveCapacity(right.count + 1)
      for column in 0..<right.count {
        let substituted = last[column] + (left[row] == right[column] ? 0 : 1)
        var cost = min(substituted, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}
