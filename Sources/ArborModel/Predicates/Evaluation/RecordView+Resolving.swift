internal import Foundation

extension RecordView {
  /// The value of a field, loaded where it lies outside of the record; null where it cannot be
  /// had.
  ///
  /// - Parameters:
  ///   - number: Whose record it is.
  ///   - source: What loads it.
  package func value(
    _ field: RecordField, of number: ObjectNumber, from source: (any RecordResolver)?
  ) -> Value {
    guard let reference = blob(field) else { return value(field) }
    return source?.blob(reference, of: number, field).map(Value.binary) ?? .null
  }
}
