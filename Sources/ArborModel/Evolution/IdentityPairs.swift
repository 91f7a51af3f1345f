/// The name of a part of a model, and its identifier across versions.
struct PartIdentity: Sendable, Hashable {
  let name: String
  /// The renaming identifier, or the name if there isn't one.
  let identifier: String

  init(_ name: String, _ renamingIdentifier: String?) {
    self.name = name
    let former = renamingIdentifier ?? ""
    identifier = former.isEmpty ? name : former
  }

  var isMarked: Bool { identifier != name }

  init(_ part: some RenamedPart) { self.init(part.name, part.renamingIdentifier) }
}

/// A part of a model that may have had another name in an earlier version.
protocol RenamedPart {
  var name: String { get }
  var renamingIdentifier: String? { get }
}

extension EntityDescription: RenamedPart {}
extension AttributeDescription: RenamedPart {}
extension RelationshipDescription: RenamedPart {}

/// The corresponding parts of two versions of a model.
///
/// Pairs are formed in this order: same name and same identifier; same identifier; same name; and
/// finally the identifier of one equal to the name of the other, for models that specify the
/// previous name in each version. The first of several candidates is chosen.
struct IdentityPairs {
  /// For each part of the older version, its index in the newer one.
  private(set) var newOf: [Int?]
  /// For each part of the newer version, its index in the older one.
  private(set) var oldOf: [Int?]

  init(_ old: [PartIdentity], _ new: [PartIdentity]) {
    self.init(identifiersOf: old, new)
    pairNames(old, new)
  }

  /// Pairs only parts with the same identifier. Use ``pairNames(_:_:)`` to pair the others.
  init(identifiersOf old: [PartIdentity], _ new: [PartIdentity]) {
    newOf = Array(repeating: nil, count: old.count)
    oldOf = Array(repeating: nil, count: new.count)
    // Most versions don't change any of these parts.
    if old == new {
      for index in old.indices { join(index, index) }
      return
    }
    pair(old, by: { $0 }, new, by: { $0 })
    pair(old, by: \.identifier, new, by: \.identifier)
  }

  /// Pairs parts that could not be paired by identifier.
  ///
  /// - Parameter isTaken: A closure that returns whether a part of the older or the newer version
  ///   is already paired elsewhere.
  mutating func pairNames(
    _ old: [PartIdentity], _ new: [PartIdentity],
    isTaken: (_ old: Int?, _ new: Int?) -> Bool = { _, _ in false }
  ) {
    pair(old, by: \.name, new, by: \.name, isTaken)
    pair(old, by: \.name, new, by: \.identifier, isTaken)
    pair(old, by: \.identifier, new, by: \.name, isTaken)
  }

  private mutating func pair<Key: Hashable>(
    _ old: [PartIdentity], by oldKey: (PartIdentity) -> Key,
    _ new: [PartIdentity], by newKey: (PartIdentity) -> Key,
    _ isTaken: (_ old: Int?, _ new: Int?) -> Bool = { _, _ in false }
  ) {
    var single: [Key: Int] = [:]
    for index in old.indices.reversed() where newOf[index] == nil && !isTaken(index, nil) {
      single[oldKey(old[index])] = index
    }
    guard !single.isEmpty else { return }
    for index in new.indices where oldOf[index] == nil && !isTaken(nil, index) {
      if let partner = single.removeValue(forKey: newKey(new[index])) { join(partner, index) }
    }
  }

  private mutating func join(_ old: Int, _ new: Int) {
    newOf[old] = new
    oldOf[new] = old
  }
}
