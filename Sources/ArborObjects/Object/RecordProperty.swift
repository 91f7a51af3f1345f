internal import ArborModel
internal import Foundation

/// A property that lies in the record and has a name for users: an attribute or a to-one
/// relationship.
struct RecordProperty {
  let name: String
  let field: RecordField
}

extension RecordView {
  /// Whether a field is null here and not there, or of other bytes.
  func differs(from other: RecordView, _ field: RecordField) -> Bool {
    let isNull = field.isNull(at: base)
    guard isNull == field.isNull(at: other.base) else { return true }
    if isNull { return false }
    switch field.kind {
    case .boolean: return field.load(base, as: UInt8.self) != field.load(other.base)
    case .int16: return field.load(base, as: UInt16.self) != field.load(other.base)
    case .int32, .float: return field.load(base, as: UInt32.self) != field.load(other.base)
    case .int64, .double, .date, .reference:
      return field.load(base, as: UInt64.self) != field.load(other.base)
    case .uuid:
      return field.load(base, as: (UInt64, UInt64).self) != field.load(other.base)
    case .string, .binary, .decimal, .uri, .tagged:
      let (left, right) = (field.bytes(at: base), field.bytes(at: other.base))
      guard left.count == right.count else { return true }
      guard let first = left.baseAddress, let second = right.baseAddress else { return false }
      return memcmp(first, second, left.count) != 0
    }
  }

  /// One bit for each field in which the records differ; the highest stands for all from the 64th
  /// on.
  func changedFields(since other: RecordView, in layout: RecordLayout) -> UInt64 {
    var bits: UInt64 = 0
    for (index, field) in layout.fields.enumerated() where differs(from: other, field) {
      bits |= 1 << UInt64(min(index, 63))
    }
    return bits
  }
}
