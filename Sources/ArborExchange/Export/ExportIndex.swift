import ArborModel
import Foundation

/// The objects of an export in the order in which they are written, and where each of them stands:
/// what an export keeps in memory of a store, some forty bytes an object.
struct ExportIndex {
  private struct Entry {
    let entity: UInt32
    /// The position among the objects of its entity, from 1.
    let ordinal: UInt32
    let number: UInt64
  }

  private let storeID: UUID
  private let entityNames: [String]
  private let entityIndexes: [String: Int]
  private var entries: [Entry] = []
  /// By entity, then by the object's number.
  private var positions: [[UInt64: UInt32]]
  /// Whether anything that is written leads to the object.
  private var isTarget: [Bool] = []

  init(storeID: UUID, entityNames: [String]) {
    self.storeID = storeID
    self.entityNames = entityNames
    entityIndexes = Dictionary(
      entityNames.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    positions = Array(repeating: [:], count: entityNames.count)
  }

  var count: Int { entries.count }

  /// Puts an object behind the others, where it is not among them.
  mutating func add(_ id: ObjectID) throws(ArborError) {
    guard let entity = entityIndexes[id.entityName] else {
      throw ArborError(.unknownName, "The model has no entity \(id.entityName).").with(objectID: id)
    }
    guard positions[entity][id.number] == nil else { return }
    guard let position = UInt32(exactly: entries.count) else {
      throw ArborError(.limitExceeded, "An export holds at most 2³² objects; export in parts.")
    }
    positions[entity][id.number] = position
    let ordinal = UInt32(truncatingIfNeeded: positions[entity].count)
    entries.append(Entry(entity: UInt32(entity), ordinal: ordinal, number: id.number))
    isTarget.append(false)
  }

  /// The position of an object; nil where it is not exported.
  func position(of id: ObjectID) -> Int? {
    entityIndexes[id.entityName].flatMap { positions[$0][id.number].map(Int.init) }
  }

  func ids(_ positions: Range<Int>) -> [ObjectID] {
    entries[positions].map {
      ObjectID(storeID: storeID, entityName: entityNames[Int($0.entity)], number: $0.number)
    }
  }

  func entityName(at position: Int) -> String { entityNames[Int(entries[position].entity)] }

  /// The order of IDs that are not in the index: by the model's order of entities, then by number.
  func precedes(_ left: ObjectID, _ right: ObjectID) -> Bool {
    (entityIndexes[left.entityName] ?? 0, left.number)
      < (entityIndexes[right.entityName] ?? 0, right.number)
  }

  mutating func markTarget(_ position: Int) { isTarget[position] = true }

  /// The label by which the object at a position is reached; nil where nothing leads to it.
  func label(at position: Int) -> String? { isTarget[position] ? name(at: position) : nil }

  /// What references call the object at a position. No entity's name has a slash.
  func name(at position: Int) -> String {
    "\(entityName(at: position))/\(entries[position].ordinal)"
  }
}
