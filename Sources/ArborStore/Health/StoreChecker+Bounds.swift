internal import ArborModel
internal import LMDB

/// Checks that numbers, sizes and values are within the bounds that the store maintains, even if
/// their checksums are valid.
extension StoreChecker {
  /// Checks the sizes of keys and values against the flags of their databases. If they differ,
  /// nothing else can be read. Returns whether all are correct.
  ///
  /// The page verification has ensured that all keys and values of a database have the same size,
  /// so the first entry is representative.
  mutating func checkSizes() throws(StoreError) -> Bool {
    for (database, size) in store.databases.valueSizes {
      let name = database.name
      let cursor = try storing(reader.cursor(database))
      guard let entry = try storing(cursor.first()) else { continue }
      if database.flags.contains(.integerKey), entry.key.count != 8 {
        report.add(.damagedPage, "\(name) has keys of \(Self.bytes(entry.key)) instead of 8.")
      }
      if let size, entry.value.count != size {
        report.add(
          .damagedPage, "\(name) has values of \(Self.bytes(entry.value)) instead of \(size).")
      }
    }
    return report.isSound
  }

  private static func bytes(_ bytes: UnsafeRawBufferPointer) -> String {
    bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
  }

  /// Checks that a counter has been initialized and is within its limit, and returns it.
  mutating func checkCounter(_ name: String) throws(StoreError) -> UInt64 {
    let counter = try StoreCounter.read(name, store.databases.arbor, reader)
    if counter == 0 || counter > StoreCounter.limit(name) {
      report.add(
        .counter,
        "The counter \(name) is \(counter), outside the range 1 to \(StoreCounter.limit(name)).")
    }
    return counter
  }

  /// Checks that a record has a value for every required attribute and does not contain NaN.
  mutating func checkValues(_ number: ObjectNumber, _ record: RecordView, _ plan: WritePlan) {
    for attribute in plan.entity.attributes where !attribute.field.isTransient {
      let description = attribute.description
      if record.isNull(attribute.field) {
        if description.isOptional || description.derivation != nil { continue }
        add(.missingValue, number, ".\(attribute.name) is nil but must have a value.")
      } else if Self.isNumeric(attribute.field), record.value(attribute.field).containsNaN {
        add(.missingValue, number, ".\(attribute.name) is NaN or a date that is not finite.")
      } else if attribute.field.kind == .json,
        !JSONKind.isCanonical(record.bytes(attribute.field))
      {
        add(.missingValue, number, ".\(attribute.name) is not JSON in canonical form.")
      } else if attribute.field.kind == .json,
        let misfit = description.misfit(inJSON: record.bytes(attribute.field), as: .stored)
      {
        add(
          .missingValue, number,
          ".\(attribute.name) doesn't fit its structure: \(misfit.words).")
      }
    }
  }

  /// Checks that a mandatory relationship has a target, or that a relationship has an allowed number
  /// of members.
  mutating func checkRule(
    _ number: ObjectNumber, _ record: RecordView, _ relationship: RelationshipSchema
  ) throws(StoreError) {
    if let field = relationship.field {
      guard record.isNull(field) else { return }
      add(.brokenRule, number, ".\(relationship.name) is nil but must have a value.")
    } else {
      let count = try snapshot.memberCount(relationship, of: number)
      guard let problem = relationship.problem(ofCount: count) else { return }
      add(.brokenRule, number, ".\(relationship.name) \(problem).")
    }
  }

  private static func isNumeric(_ field: RecordField) -> Bool {
    [.real, .decimal, .tagged].contains(field.kind.form)
  }
}
