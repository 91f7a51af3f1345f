internal import ArborModel

/// Finds objects that share a value in a unique index among the collected entries.
extension IndexMaintainer {
  /// Two objects with the same values.
  struct Duplicate {
    let holder: ObjectNumber
    let other: ObjectNumber
  }

  /// Returns the duplicates among the collected entries, which must be sorted and contain no
  /// removals.
  ///
  /// - Parameter wholeKey: Returns the untruncated key of an object whose collected key was
  ///   truncated, or `nil` if the constraint doesn't apply to it.
  func duplicates(
    _ wholeKey: (ObjectNumber) throws(StoreError) -> [UInt8]?
  ) throws(StoreError) -> [Duplicate] {
    var found: [Duplicate] = []
    var start = 0
    while start < run.count {
      let end = run.endOfKey(start)
      var holder: ObjectNumber?
      for index in start..<end where !run[index].isExempt {
        let number = ObjectNumber(rawValue: run[index].number)
        if let holder {
          found.append(Duplicate(holder: holder, other: number))
        } else {
          holder = number
        }
      }
      start = end
    }
    var holders: [[UInt8]: ObjectNumber] = [:]
    for number in cutClaims {
      guard let key = try wholeKey(number) else { continue }
      if let holder = holders[key] {
        found.append(Duplicate(holder: holder, other: number))
      } else {
        holders[key] = number
      }
    }
    return found
  }
}
