internal import ArborLocks
internal import ArborModel

/// How many properties a typed class describes, for classes that do not say it themselves.
///
/// A description is built anew each time a hand-written class gives it, and the numbers stand
/// before every access of a subclass's property: each class is counted once in a process.
struct DescribedCounts: Sendable {
  let attributes: Int
  let relationships: Int

  private static let known = Lock<[ObjectIdentifier: DescribedCounts]>([:])

  /// The numbers of a class, inherited properties included.
  static func of(_ objectClass: ManagedObject.Type) -> DescribedCounts {
    let key = ObjectIdentifier(objectClass)
    if let counts = known.withLock({ $0[key] }) { return counts }
    let lineage = objectClass.describedLineage
    let counts = DescribedCounts(
      attributes: lineage.reduce(0) { $0 + $1.attributes.count },
      relationships: lineage.reduce(0) { $0 + $1.relationships.count })
    known.withLock { $0[key] = counts }
    return counts
  }
}
