package import ArborModel
internal import LMDB

/// The result of looking up one unique value.
struct UniqueAnswer {
  /// The row of the object that has the value, or `nil` if there isn't one.
  let row: FetchedRow?
}

extension StoreSnapshot {
  /// Looks up the object with one unique value by its index key, without planning. The record is
  /// copied to the allocator's current slab.
  ///
  /// - Returns: `nil` if a query has to be planned: the predicate has further conditions, its value
  ///   is too long for the index, or queries are being watched and its plan must be reported.
  func lookUp(
    _ predicate: BoundPredicate, _ arguments: [PropertyValue], of queried: EntitySchema,
    includesSubentities: Bool = true, overlay: (any PendingState)?, _ allocator: SlabAllocator
  ) throws(StoreError) -> UniqueAnswer? {
    guard watch == nil, !(overlay?.hasPendingChanges ?? false),
      let wanted = predicate.uniqueEquality?.key(arguments)
    else { return nil }
    return try translatingErrors {
      var key = KeyBuffer()
      let isOfKind = KeyEncoder.append(
        wanted.value, as: wanted.kind, isAscending: wanted.isAscending, to: &key)
      guard isOfKind, !key.isCut else { return nil }
      let reader = try reader
      let index = store.databases.indexNumber(wanted.indexNumber, of: queried.index)
      guard unfinishedIndexes?.isReady(index) ?? true else { return nil }
      store.noteUse(ofIndex: index)
      let database = store.databases.indexes[index].database
      guard let found = try reader.get(database, key: key.bytes) else {
        return UniqueAnswer(row: nil)
      }
      let number = ObjectNumber(rawValue: database.numbers.number(found))
      // Looking the entity up would count a reference to it, and threads contend for the count.
      if number.entity == queried.number {
        return try answer(number, of: queried, overlay, allocator)
      }
      guard includesSubentities, let entity = store.schema.entity(of: number),
        entity.isKind(of: queried)
      else { return UniqueAnswer(row: nil) }
      return try answer(number, of: entity, overlay, allocator)
    }
  }

  @inline(__always)
  private func answer(
    _ number: ObjectNumber, of entity: EntitySchema, _ overlay: (any PendingState)?,
    _ allocator: SlabAllocator
  ) throws(StoreError) -> UniqueAnswer {
    if let known = overlay?.known, known.contains(number) {
      return UniqueAnswer(row: FetchedRow(known: number))
    }
    // A forged entry may have the number of an abstract entity.
    guard !entity.isAbstract, let record = try record(number, of: entity, allocator: allocator)
    else { throw StoreError.missingRecord(number, entity) }
    return UniqueAnswer(row: FetchedRow(number, copy: record, slabIndex: 0))
  }

  /// Returns the objects whose attribute has one of many values, in one scan along a unique index
  /// of that attribute alone.
  ///
  /// - Parameters:
  ///   - values: The values, ascending and distinct.
  ///   - slot: The slot of the attribute in the entity.
  /// - Returns: The objects' numbers in the order of their values, or `nil` if there is no such
  ///   index or it is not complete yet.
  /// - Complexity: Linear in the number of values. Values that fall between two adjacent keys, or
  ///   after the last, cost one comparison each.
  package func numbers(
    withUnique values: [Int64], at slot: Int, of entity: EntitySchema
  ) throws(StoreError) -> [ObjectNumber]? {
    let kind = entity.attributes[slot].field.kind
    guard [.int16, .int32, .int64].contains(kind),
      let keyIndex = entity.indexes.firstIndex(where: { $0.isUniqueKey(of: slot) })
    else { return nil }
    let index = store.databases.indexNumber(keyIndex, of: entity.index)
    guard unfinishedIndexes?.isReady(index) ?? true else { return nil }
    store.noteUse(ofIndex: index)
    return try translatingErrors {
      let cursor = try reader.cursor(store.databases.indexes[index].database)
      var numbers: [ObjectNumber] = []
      var here: Entry?
      var hasBegun = false
      for value in values {
        var key = KeyBuffer()
        guard KeyEncoder.append(.integer(value), as: kind, isAscending: true, to: &key) else {
          continue
        }
        if !hasBegun || here?.key.isBefore(key.bytes) == true {
          // The next value is usually the next key.
          here = hasBegun ? try cursor.nextKey() : nil
          if !hasBegun || here?.key.isBefore(key.bytes) == true {
            here = try cursor.seek(key.bytes)
          }
          hasBegun = true
        }
        guard let found = here else { break }
        guard found.key.elementsEqual(key.bytes) else { continue }
        let number = ObjectNumber(rawValue: cursor.number(of: found))
        if store.schema.entity(of: number)?.isKind(of: entity) == true { numbers.append(number) }
      }
      return numbers
    }
  }
}

extension IndexSchema {
  /// Returns whether the index is a unique, ascending index of the given attribute alone, without a
  /// condition.
  fileprivate func isUniqueKey(of slot: Int) -> Bool {
    guard isUnique, condition == nil, columns.count == 1 else { return false }
    return columns[0].source == .attribute(slot) && columns[0].kind == .plain
      && columns[0].isAscending
  }
}
