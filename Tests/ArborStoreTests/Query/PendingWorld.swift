import ArborModel
import ArborStore
import Foundation
import TestSupport

/// A random pending state of a context over a world.
struct PendingWorld {
  let objects: [PlainObject]
  let overlay: any PendingState
  private let touched: NumberMap
  private let known: NumberMap

  init(_ world: QueryWorld, using random: inout SeededRandom) throws {
    let allocator = SlabAllocator()
    var slabs: [RecordSlab] = []
    let dirty = NumberMap()
    let known = NumberMap()
    var deleted: Set<ObjectNumber> = []
    var records: [ObjectNumber: RecordBuffer] = [:]
    var copies: [ObjectNumber: PlainObject] = [:]
    for object in world.objects {
      copies[object.number] = PlainObject(object.number, object.entity, object.values)
    }
    for object in world.objects {
      copies[object.number]?.links = object.links.compactMapValues { copies[$0.number] }
    }
    let companies = world.objects.filter { $0.entity.name == "Company" }
      .compactMap { copies[$0.number] }
    let people = world.objects.filter { $0.entity.name == "Person" }
      .compactMap { copies[$0.number] }
    for object in world.objects where Int.random(in: 0..<12, using: &random) == 0 {
      guard let copy = copies[object.number] else { continue }
      dirty.set(object.number, 1)
      // Companies and people are link targets, whose deletion would have to be propagated.
      if object.entity.name == "Manager", Bool.random(using: &random) {
        deleted.insert(object.number)
        continue
      }
      copy.values = QueryWorld.values(
        object.entity, Int(object.number.sequence), using: &random)
      if object.entity.name == "Employee" || object.entity.name == "Manager" {
        QueryWorld.link(copy, companies, people, using: &random)
      }
    }
    for name in ["Person", "Employee", "Manager"] {
      let entity = world.entity(name)
      for sequence in try world.store.takeNumbers(5, for: entity) {
        let number = ObjectNumber(entity: entity.number, sequence: sequence)
        let made = PlainObject(
          number, entity, QueryWorld.values(entity, Int(sequence), using: &random))
        if name != "Person" { QueryWorld.link(made, companies, people, using: &random) }
        copies[number] = made
        dirty.set(number, 1)
      }
    }
    for (number, object) in copies where dirty.contains(number) && !deleted.contains(number) {
      let record = object.record(allocator)
      records[number] = record
      slabs.append(record.slab)
    }
    for object in world.objects
    where !dirty.contains(object.number) && Bool.random(using: &random) {
      known.set(object.number, 1)
    }
    objects = copies.values.filter { !deleted.contains($0.number) }
    touched = dirty
    self.known = known
    overlay = PlainPendingState(
      dirty: dirty, known: known, records: records, slabs: slabs, deleted: deleted)
  }

  func isPendingOrKnown(_ number: ObjectNumber) -> Bool {
    touched.contains(number) || known.contains(number)
  }
}

/// Pending objects without changed members.
private final class PlainPendingState: PendingState {
  let dirty: NumberMap
  let known: NumberMap?
  let leastSelected = 0
  private let records: [ObjectNumber: RecordBuffer]
  private let slabs: [RecordSlab]
  private let deleted: Set<ObjectNumber>

  init(
    dirty: NumberMap, known: NumberMap, records: [ObjectNumber: RecordBuffer],
    slabs: [RecordSlab], deleted: Set<ObjectNumber>
  ) {
    self.dirty = dirty
    self.known = known
    self.records = records
    self.slabs = slabs
    self.deleted = deleted
  }

  func pendingRows(
    of entity: EntitySchema, _ selection: PendingSelection?
  ) -> [(ObjectNumber, RecordView)] {
    records.filter { $0.key.entity == entity.number }
      .filter { selection?.means($0.value.view, of: entity) ?? true }
      .map { ($0.key, $0.value.view) }
  }

  func pendingRecord(of number: ObjectNumber) -> RecordView? { records[number]?.view }
  func isDeleted(_ number: ObjectNumber) -> Bool { deleted.contains(number) }
  func touches(_ entity: EntitySchema) -> Bool { true }

  func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, over stored: [ObjectNumber]
  ) -> [ObjectNumber] { stored }

  func changedMembers(
    of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> (added: [ObjectNumber], removed: [ObjectNumber])? { nil }

  func isMember(
    _ member: ObjectNumber, of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> Bool? { nil }

  func blob(_ key: BlobKey) -> Data? { nil }
}

extension PendingSelection {
  /// Whether a record is one of the selected ones. No other record may be returned.
  fileprivate func means(_ record: RecordView, of entity: EntitySchema) -> Bool {
    var key = KeyBuffer()
    IndexKeys(columns, of: entity).key(of: record, into: &key)
    return keys.contains { key.bytes.elementsEqual($0) }
  }
}
