/// Where the code of a scope leaves its candidate for the code of scopes within.
///
/// A frame belongs to one compiled predicate, which one thread at a time may call. The view stays
/// valid: a resolver's records do until the query has been answered.
final class EvaluationFrame {
  /// The concrete entities that candidates may be of.
  let family: [EntitySchema]
  private(set) var record: RecordView?
  private(set) var number = ObjectNumber(rawValue: 0)

  init(family: [EntitySchema]) { self.family = family }

  @inline(__always)
  func hold(_ record: RecordView, _ number: ObjectNumber) {
    self.record = record
    self.number = number
  }
}

/// Where the values of a list are put in turn; see ``BoundSlot``.
final class ValueSlot {
  var value = PropertyValue.null
}

package typealias ValueReader = (RecordView, ObjectNumber, (any RecordResolver)?) -> PropertyValue

typealias ObjectsReader = (RecordView, ObjectNumber, (any RecordResolver)?) -> [ObjectNumber]

/// Reads an object for a candidate; nil for none.
typealias ObjectReader = (RecordView, ObjectNumber, (any RecordResolver)?) -> ObjectNumber?

/// A ``ValueReader`` in a structure; see ``CompiledCode``.
struct ReaderCode {
  let read: ValueReader
}
