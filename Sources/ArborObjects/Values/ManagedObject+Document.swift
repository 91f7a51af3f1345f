package import ArborFoundation
package import ArborJSON
package import ArborModel

/// Importing attribute values directly from document bytes to record bytes, without creating
/// intermediate values.
extension ManagedObject {
  /// The object's number, which is unique in its store.
  package final var objectNumber: ObjectNumber { number }

  /// Whether the class overrides ``importValue(_:forKey:)``.
  package final var overridesImportValue: Bool { binding.hooks.contains(.importValue) }

  /// Whether the class overrides ``didImport(from:)``.
  package final var overridesDidImport: Bool { binding.hooks.contains(.didImport) }

  /// The result of assigning an imported value.
  package enum Reception {
    case changed
    /// The attribute already has the value.
    case same
    /// The value doesn't have the attribute's plain form. Nothing was changed.
    case unfit
  }

  /// Sets an attribute to a number, Boolean or string of a document.
  ///
  /// Null and values that need conversion, such as dates, decimals, bytes, and numbers for strings,
  /// are left to slower paths.
  ///
  /// - Parameter slot: The slot of an attribute that isn't derived.
  /// - Throws: ``ArborError`` if the object doesn't belong to a context.
  package final func receive(
    _ node: JSONNode, atSlot slot: Int
  ) throws(ArborError) -> Reception {
    let field = binding.entity.attributes[slot].field
    switch field.kind {
    case .int64: return try receive(node.int64, field, slot)
    case .int32: return try receive(node.int64.flatMap { Int32(exactly: $0) }, field, slot)
    case .int16: return try receive(node.int64.flatMap { Int16(exactly: $0) }, field, slot)
    case .double: return try receive(node.double, field, slot)
    case .float:
      let number = node.double.map { Float($0) }
      return try receive(number.flatMap { $0.isFinite ? $0 : nil }, field, slot)
    case .boolean: return try receive(node.bool.map { UInt8($0 ? 1 : 0) }, field, slot)
    case .string: return try receive(text: node, field, slot)
    default: return .unfit
    }
  }

  /// Sets an attribute to a date.
  ///
  /// - Throws: ``ArborError`` if the object doesn't belong to a context.
  package final func receive(
    _ date: Date, atSlot slot: Int
  ) throws(ArborError) -> Reception {
    let field = binding.entity.attributes[slot].field
    let seconds = date.timeIntervalSinceReferenceDate
    guard case .date = field.kind, seconds.isFinite else { return .unfit }
    return try receive(seconds, field, slot)
  }

  private final func receive<T: BitwiseCopyable>(
    _ value: T?, _ field: RecordField, _ slot: Int
  ) throws(ArborError) -> Reception {
    guard let value else { return .unfit }
    let record = currentRecord
    // By bytes, because 0.0 equals -0.0.
    let isSame = withUnsafeBytes(of: record.load(field, as: T.self)) { present in
      withUnsafeBytes(of: value) { present.hasSameBytes(as: $0) }
    }
    if isSame, !record.isNull(field) { return .same }
    try prepareForChange(of: slot)
    write { buffer, _ in buffer.store(field, value) }
    return .changed
  }

  private final func receive(
    text node: JSONNode, _ field: RecordField, _ slot: Int
  ) throws(ArborError) -> Reception {
    let result = node.withPlainText { text, _ -> Result<Reception, ArborError> in
      let record = currentRecord
      if !record.isNull(field), record.bytes(field).hasSameBytes(as: text) {
        return .success(.same)
      }
      return Result { () throws(ArborError) in
        try prepareForChange(of: slot)
        write { buffer, allocator in buffer.store(field, bytes: text, allocator: allocator) }
        return .changed
      }
    }
    return try result?.get() ?? .unfit
  }

  /// Prepares a change of the attribute with the given slot of the entity.
  final func prepareForChange(of slot: Int) throws(ArborError) {
    if session == nil { _ = try requireSession() }
    if binding.isObserved { session?.observation?.willChange(self, .attribute(slot)) }
  }
}
