import ArborJSON
import ArborModel
import ArborObjects

/// An outermost item whose objects break rules, skipped by a lenient import.
struct SkippedItem {
  /// The item's byte offset in the document.
  let offset: Int
  /// The reason, with its location.
  let error: ArborError
}

/// Records which outermost items describe or change which objects, so that the items whose objects
/// break rules can be skipped.
struct ItemTrace {
  /// The items that describe an object, in order, by index in the plan.
  private var describing: [ObjectNumber: [Int32]] = [:]
  /// The last outermost item that has changed an object.
  private var changing: [ObjectNumber: Int32] = [:]
  /// The outermost item that contains an item.
  private var outermost: [Int32: Int32] = [:]
  /// The outermost item being imported, or -1.
  private(set) var current: Int32 = -1

  mutating func begin(_ item: Int32) { current = item }

  /// Continues with the item that describes an object.
  mutating func begin(itemOf object: ObjectNumber) {
    current = describing[object]?.last.flatMap { outermost[$0] } ?? -1
  }

  mutating func note(_ object: ObjectNumber, describedBy item: Int32) {
    describing[object, default: []].append(item)
    outermost[item] = current
  }

  /// Records the objects that the current outermost item has changed.
  mutating func noteChanges(of objects: Set<ObjectNumber>) {
    guard current >= 0 else { return }
    for object in objects { changing[object] = current }
  }

  /// Returns the item that is responsible for an object's broken rule, and the outermost item that
  /// contains it: the last one that sets the property, otherwise the first one that describes the
  /// object, otherwise the last one that has changed it.
  func culprit(
    of object: ObjectNumber, _ sets: (_ item: Int32) -> Bool
  ) -> (item: Int32, outermost: Int32)? {
    let items = describing[object] ?? []
    if let item = items.last(where: sets) ?? items.first, let outer = outermost[item] {
      return (item, outer)
    }
    return changing[object].map { ($0, $0) }
  }
}

extension ExchangeRun {
  /// Returns the outermost items to skip because of an error: those whose objects break rules, or
  /// the one that could not be imported. Returns an empty array if the error doesn't concern
  /// items.
  func itemsToSkip(_ error: ArborError) -> [SkippedItem] {
    guard let trace else { return [] }
    guard [.validation, .notUnique].contains(error.code) else {
      guard trace.current >= 0, Self.itemErrors.contains(error.code) else { return [] }
      let item = plan.origin(plan.items[Int(trace.current)])
      return [
        SkippedItem(
          offset: item.offset,
          error: error.location == nil ? error.with(location: item.location) : error)
      ]
    }
    var skipped: [SkippedItem] = []
    var offsets: Set<Int> = []
    for violation in error.violations.isEmpty ? [error] : error.violations {
      guard let id = violation.objectID, let object = plan.context.registeredObject(for: id),
        let (item, outermost) = trace.culprit(of: object.objectNumber, { sets($0, violation) })
      else { continue }
      let offset = plan.origin(plan.items[Int(outermost)]).offset
      guard offsets.insert(offset).inserted else { continue }
      let location =
        skipped.count < ImportFindings.maximumListed
        ? location(of: plan.items[Int(item)], property: violation.keyPath) : nil
      skipped.append(SkippedItem(offset: offset, error: violation.with(location: location)))
    }
    return skipped
  }

  /// The codes of errors that concern a single item.
  private static let itemErrors: [ArborError.Code] = [
    .invalidDocument, .unparsableValue, .typeMismatch, .missingIdentity,
  ]

  /// Returns whether an item has a value for the property that an error concerns.
  private func sets(_ index: Int32, _ error: ArborError) -> Bool {
    let item = plan.items[Int(index)]
    let mapping = plan.mapping(of: item)
    guard let property = error.keyPath.flatMap(mapping.index) else { return false }
    guard property >= mapping.attributes.count else {
      return plan.values[Int(item.values) + property] > 0
    }
    return item.links.contains {
      Int(plan.links[$0].relationship) == property - mapping.attributes.count
        && plan.links[$0].content != .absent
    }
  }
}
