package import ArborModel

/// The order of a fetch, for comparing individual records by keys that are kept. Identical to the
/// order of the fetch's results.
package struct RecordOrder {
  /// The sort values of a record in the form in which they are compared.
  package enum Key {
    /// Encoded by ``KeyEncoder``, if the order can be expressed in bytes.
    case bytes([UInt8])
    /// Most significant value first.
    case values([PropertyValue])
  }

  private let keys: [BoundSortKey]
  /// The order that computes keys from records alone, and that compares keys.
  private let own: KeyForm
  /// Whether computing a key needs a snapshot.
  private let needsSnapshot: Bool

  /// - Throws: ``ArborError`` `invalidPredicate` if a key cannot be computed.
  package init(
    _ keys: [BoundSortKey], of family: [EntitySchema], _ environment: PredicateEnvironment
  ) throws(ArborError) {
    self.keys = keys
    var read = PropertiesRead()
    for key in keys { read.add(key) }
    needsSnapshot =
      read.readsOthers || read.isCapricious || keys.contains { $0.path?.leaf.isExternal ?? false }
    let columns = SortColumns(keys, environment, resolver: nil)
    for entity in family { try columns.prepare(for: entity) }
    own = KeyForm(keys, columns)
  }

  // MARK: Comparing

  /// Returns the order of two objects: by key, then by number.
  @inline(__always)
  package func compare(
    _ keys: KeyList, _ index: Int, _ number: @autoclosure () -> ObjectNumber, to key: Key,
    _ other: ObjectNumber
  ) -> Ordering {
    let order =
      switch key {
      case .bytes(let bytes):
        keys.withBytes(index) { left in bytes.withUnsafeBytes { Ordering(bytes: left, $0) } }
      case .values(let values): compare(keys[index], .values(values))
      }
    guard order == .equal else { return order }
    let number = number()
    return number == other ? .equal : number < other ? .less : .greater
  }

  /// Returns the order of two keys.
  package func compare(_ left: Key, _ right: Key) -> Ordering {
    switch (own, left, right) {
    case (_, .bytes(let left), .bytes(let right)):
      left.withUnsafeBytes { left in right.withUnsafeBytes { Ordering(bytes: left, $0) } }
    case (.values(let order), .values(let left), .values(let right)): order.compare(left, right)
    default: stopProgram("Keys of different orders were compared.")
    }
  }

  // MARK: Sections

  /// Returns the section of a key: equal for all keys of a section, and different for others. The
  /// order must have sort keys.
  package func section(of key: Key) -> DistinctValue {
    switch key {
    case .values(let values): return CollatedOrder.section(values[0], keys[0].options)
    case .bytes(let bytes):
      let value = bytes.withUnsafeBytes { KeyDecoder.first($0, column: firstColumn) }
      return DistinctValue(value ?? .null)
    }
  }

  /// Returns whether a key in a list belongs to the section of another key.
  package func isSection(of keys: KeyList, _ index: Int, _ key: Key) -> Bool {
    guard case .bytes(let bytes) = key else { return section(of: keys[index]) == section(of: key) }
    // Columns are prefix-free.
    return bytes.withUnsafeBytes { bytes in
      // Kept keys are never cut off.
      let length = KeyDecoder.end(of: firstColumn, in: bytes, from: 0) ?? bytes.count
      let section = UnsafeRawBufferPointer(rebasing: bytes[..<length])
      return keys.withBytes(index) { key in
        key.count >= length
          && Ordering(bytes: UnsafeRawBufferPointer(rebasing: key[..<length]), section) == .equal
      }
    }
  }

  private var firstColumn: KeyDecoder.Column {
    let kind: FieldKind =
      switch keys[0].path?.leaf {
      case .attribute(let attribute): attribute.field.kind
      case .entityName, nil: .string
      case .toOne, .object: .reference
      }
    return (kind, keys[0].isAscending)
  }

  // MARK: Computing

  /// Returns the order that computes keys on a snapshot.
  fileprivate func form(
    _ environment: @autoclosure () -> PredicateEnvironment,
    _ resolver: () throws -> SnapshotResolver
  ) throws -> (KeyForm, SnapshotResolver?) {
    guard needsSnapshot else { return (own, nil) }
    let resolver = try resolver()
    return (KeyForm(keys, SortColumns(keys, environment(), resolver: resolver)), resolver)
  }
}

/// An order of rows in the form that suits its keys.
private enum KeyForm {
  case bytes(ByteOrder)
  case values(CollatedOrder)

  init(_ keys: [BoundSortKey], _ columns: SortColumns) {
    if let order = ByteOrder(keys, columns: columns) {
      self = .bytes(order)
    } else {
      self = .values(CollatedOrder(keys, columns: columns))
    }
  }
}

/// Computes the keys of records on one snapshot.
package struct RecordKeys {
  fileprivate let form: KeyForm

  /// Returns the key of a record, which must belong to one of the order's entities.
  package func key(
    _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) throws(StoreError) -> RecordOrder.Key {
    switch form {
    case .bytes(let order): return .bytes(order.bytes(number, record, of: entity))
    case .values(let order):
      do throws(ArborError) {
        return .values(try order.key(number, record, of: entity))
      } catch {
        throw .query(error)
      }
    }
  }
}

extension StoreSnapshot {
  /// Runs `body` with the keys of an order, which may follow relationships.
  package func computingKeys<R>(
    of order: RecordOrder, overlay: (any PendingState)?,
    _ body: (RecordKeys) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try translatingErrors {
      let (form, resolver) = try order.form(predicateEnvironment) {
        SnapshotResolver(try source, overlay: overlay)
      }
      let result = try body(RecordKeys(form: form))
      try resolver?.check()
      return result
    }
  }
}
