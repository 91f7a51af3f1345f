/// A reason why objects of the older model cannot be migrated to the newer model.
struct MigrationProblem: Codable, Hashable {
  let entity: String
  let property: String
  /// A description of the value or link that does not fit.
  let what: String
  private(set) var count = 0
  /// The numbers of the first affected objects.
  private(set) var first: [UInt64] = []

  static let namedObjects = 3

  /// Returns whether two problems differ only in their objects.
  func isSame(as other: Self) -> Bool {
    entity == other.entity && property == other.property && what == other.what
  }

  mutating func add(_ number: UInt64) {
    count += 1
    if first.count < Self.namedObjects { first.append(number) }
  }

  /// A description of the problem and the remedy.
  var message: String {
    let names = first.map { "\(entity) \($0)" }.joined(separator: ", ")
    let objects = count == 1 ? "there is 1 object" : "there are \(count) objects"
    return "\(entity).\(property): \(objects) with \(what) (\(names)"
      + (count > first.count ? " and more" : "")
      + "). Change the objects with the former model, or use a MigrationStep to migrate them."
  }
}

extension [MigrationProblem] {
  mutating func note(_ problem: MigrationProblem, _ number: UInt64) {
    let index = firstIndex { $0.isSame(as: problem) } ?? count
    if index == count { append(problem) }
    self[index].add(number)
  }
}
