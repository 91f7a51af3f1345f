internal import ArborModel
internal import Foundation

/// What a workspace knows of one entity: its schema, and where its relationships lead.
///
/// Live objects have subclasses of it, which know the class of the objects too. Nothing of it ever
/// changes; what the template points to is written in `init` only, and freed when nobody holds the
/// shape any more.
open class EntityShape {
  final let entity: EntitySchema
  final let storeID: UUID
  /// All relationships, hidden inverses included, by the entity's slots.
  final let relations: ContiguousArray<Relation>
  /// A record of default values, for reads that fail.
  final let template: RecordView
  /// Whether records have fields that live in memory only.
  final let hasTransientFields: Bool

  init(_ entity: EntitySchema, _ relations: ContiguousArray<Relation>, storeID: UUID) {
    self.entity = entity
    self.relations = relations
    self.storeID = storeID
    let bytes = entity.layout.template
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: max(bytes.count, 1), alignment: MemoryLayout<UInt64>.alignment)
    bytes.withUnsafeBytes { source in
      if let start = source.baseAddress { memory.copyMemory(from: start, byteCount: bytes.count) }
    }
    template = RecordView(base: memory, count: bytes.count)
    hasTransientFields = entity.layout.fields.contains(where: \.isTransient)
  }

  /// All relationships of an entity, by its slots.
  static func relations(
    of entity: EntitySchema, in schema: ModelSchema
  ) -> ContiguousArray<Relation> {
    ContiguousArray(entity.relationships.map { Relation($0, of: entity, in: schema) })
  }

  final func identity(of number: ObjectNumber) -> ObjectID {
    ObjectID(storeID: storeID, entityName: entity.name, number: number.sequence)
  }

  /// Called when values are read of a fault whose workspace has gone, which are the defaults.
  ///
  /// - Parameter number: The raw object number.
  open func noteLostRead(ofNumber number: UInt64) {}

  deinit { template.base.deallocate() }
}
