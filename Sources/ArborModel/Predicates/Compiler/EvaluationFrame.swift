/// The storage of the candidate of a scope, which the code of inner scopes reads.
///
/// A frame belongs to one compiled predicate and is not thread-safe. The view stays valid, because
/// a resolver's records are valid until the query is complete.
final class EvaluationFrame {
  /// The concrete entities that a candidate can belong to.
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

/// The storage of the current element of a list; see ``BoundSlot``.
final class ValueSlot {
  var value = PropertyValue.null
}

package typealias ValueReader = (RecordView, ObjectNumber, (any RecordResolver)?) -> PropertyValue

typealias ObjectsReader = (RecordView, ObjectNumber, (any RecordResolver)?) -> [ObjectNumber]

/// A closure that returns the object for a candidate, or `nil` if there isn't one.
typealias ObjectReader = (RecordView, ObjectNumber, (any RecordResolver)?) -> ObjectNumber?

/// A wrapper for a ``ValueReader``; see ``CompiledCode``.
struct ReaderCode {
  let read: ValueReader
}
