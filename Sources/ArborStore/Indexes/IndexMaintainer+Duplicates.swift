internal import ArborModel

/// Objects that share a value in a unique index, among all whose entries were collected.
extension IndexMaintainer {
  /// Two objects of which the second one has the values of the first.
  struct Duplicate {
    let holder: ObjectNumber
    let other: ObjectNumber
  }

  /// What was collected has been sorted, and removes nothing.
  ///
  /// - Parameter wholeKey: Gives the key in full of an object whose collected key was cut; nil
  ///   where the constraint does not bind it.
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
