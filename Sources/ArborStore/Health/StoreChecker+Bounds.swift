internal import ArborModel
internal import LMDB

/// That numbers, sizes and values are such as the store writes, whatever their checksums say.
extension StoreChecker {
  /// Compares the sizes of keys and values with what their databases hold: nothing else can be read
  /// where they differ.
  ///
  /// All of a database have one size, as the verification of the pages has seen, so the first entry
  /// speaks for them. True where all are right.
  mutating func checkSizes() throws(StoreError) -> Bool {
    for (name, flags) in StoreDatabases.list(store.schema) {
      let database = try storing(store.environment.openDatabase(name, flags))
      // In a file of an earlier format, opened for reading only, some are missing.
      guard let database else { continue }
      let cursor = try storing(reader.cursor(database))
      guard let entry = try storing(cursor.first()) else { continue }
      if flags.contains(.integerKey), entry.key.count != 8 {
        report.add(.damagedPage, "\(name) has keys of \(entry.key.count) bytes instead of 8.")
      }
      let pairSize = flags == StoreFormat.orderedFlags ? OrderedMembers.valueSize : nil
      if let size = flags.contains(.integerDuplicates) ? 8 : pairSize, entry.value.count != size {
        report.add(
          .damagedPage, "\(name) has values of \(entry.value.count) bytes instead of \(size).")
      }
    }
    return report.isSound
  }

  /// That a counter, which is returned, has not run past the numbers that it counts, and has begun.
  mutating func checkCounter(_ name: String) throws(StoreError) -> UInt64 {
    let counter = try StoreCounter.read(name, store.databases.arbor, reader)
    if counter == 0 || counter > StoreCounter.limit(name) {
      report.add(
        .counter,
        "The counter \(name) is \(counter), outside its range from 1 to "
          + "\(StoreCounter.limit(name)).")
    }
    return counter
  }

  /// That a record has a value for every attribute that must have one, and none that is NaN.
  mutating func checkValues(_ number: ObjectNumber, _ record: RecordView, _ plan: WritePlan) {
    for attribute in plan.entity.attributes where !attribute.field.isTransient {
      let description = attribute.description
      if record.isNull(attribute.field) {
        if description.isOptional || description.derivation != nil { continue }
        add(.missingValue, number, ".\(attribute.name) is nil but must have a value.")
      } else if Self.isNumeric(attribute.field), record.value(attribute.field).containsNaN {
        add(.missingValue, number, ".\(attribute.name) is NaN or a date that is not finite.")
      }
    }
  }

  private static func isNumeric(_ field: RecordField) -> Bool {
    [.real, .decimal, .tagged].contains(field.kind.form)
  }
}
