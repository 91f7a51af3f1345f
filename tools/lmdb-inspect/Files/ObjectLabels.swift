import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// The names of a store's objects with their labels, such as `Office/1 “Riga”`.
///
/// A label is the value of an object's title attribute, as determined by ``ObjectTitle``. Reads a
/// single snapshot, which ``close()`` ends.
final class ObjectLabels {
  private static let maximumLength = 30
  private static let room = 10_000

  private let store: StoreEngine
  private let snapshot: StoreSnapshot
  private let attributes: [String: String]
  private var known: [ObjectNumber: String] = [:]

  init(_ store: StoreEngine) throws {
    self.store = store
    snapshot = try store.snapshot()
    attributes = ObjectTitle.attributes(of: store.schema.model)
  }

  func close() { snapshot.close() }

  func text(_ id: ObjectID) -> String {
    guard let number = try? store.objectNumber(id) else { return "\(id.entityName)/\(id.number)" }
    return text(number)
  }

  /// Returns the name of an object, with its label if it has one that can be read.
  func text(_ number: ObjectNumber) -> String {
    if let text = known[number] { return text }
    let name = DecodedObject.name(number, in: store.schema)
    let text = label(of: number).map { "\(name) “\($0)”" } ?? name
    if known.count >= Self.room { known.removeAll() }
    known[number] = text
    return text
  }

  private func label(of number: ObjectNumber) -> String? {
    // The record is in the snapshot's memory.
    let slabs = SlabAllocator()
    defer { withExtendedLifetime(slabs) {} }
    guard let entity = store.schema.entity(of: number), let name = attributes[entity.name],
      case .attribute(let attribute) = entity.property(named: name),
      let record = try? snapshot.record(number, allocator: slabs),
      record.blob(attribute.field) == nil
    else { return nil }
    switch record.value(attribute.field) {
    case .null, .string(""): return nil
    case .string(let text):
      return TextWidth.cut(TerminalText.escaped(text), to: Self.maximumLength)
    case let value: return TextWidth.cut(ValueText.text(value), to: Self.maximumLength)
    }
  }
}
