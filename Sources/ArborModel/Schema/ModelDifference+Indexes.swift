extension ModelComparison {
  /// Names each index that is new, gone or made of something else. Constraints are compared by
  /// themselves.
  mutating func compareIndexes(_ before: EntityDescription, _ after: EntityDescription) {
    let old = Self.indexes(of: before)
    let new = Self.indexes(of: after)
    for index in new where old[index.name] == nil {
      note("the index \(index.name) is new: \(index.summary)", .lightweight)
    }
    for index in new {
      guard let former = old[index.name], former != index else { continue }
      note(
        "the index \(index.name) changes from \(former.summary) to \(index.summary)", .lightweight)
    }
    let kept = Set(new.map(\.name))
    for name in old.keys.sorted() where !kept.contains(name) {
      note("the index \(name) is gone", .lightweight)
    }
  }

  private static func indexes(of entity: EntityDescription) -> [KeptIndex] {
    let constraints = Set(entity.uniquenessConstraints.map { $0.joined(separator: "+") })
    return entity.keptIndexes { _ in true }
      .filter { !$0.isUnique || !constraints.contains($0.name) }
      .sorted { $0.name < $1.name }
  }
}

extension [KeptIndex] {
  fileprivate subscript(name: String) -> KeptIndex? { first { $0.name == name } }
  fileprivate var keys: [String] { map(\.name) }
}

extension KeptIndex {
  fileprivate var summary: String {
    let elements = columns.map { column in
      FetchIndexDescription.Element(
        column.property, isAscending: column.isAscending, kind: column.kind.description)
    }
    return FetchIndexDescription(
      name: name, elements: elements, partialIndexPredicate: condition, isUnique: isUnique
    ).summary
  }
}
