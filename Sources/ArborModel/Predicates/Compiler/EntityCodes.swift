/// Code for objects of a family of entities, created lazily for each concrete entity, so that the
/// cost for large families depends on the objects encountered.
final class EntityCodes<Code> {
  private struct Entry {
    let entity: UInt16
    let code: Code
  }

  private var entries: [Entry] = []
  private let family: [EntitySchema]
  private let make: (EntitySchema) throws(ArborError) -> Code

  /// - Throws: The error of creating the code for the first entity. An error in one applies to all.
  init(
    _ family: [EntitySchema], _ make: @escaping (EntitySchema) throws(ArborError) -> Code
  ) throws(ArborError) {
    self.family = family
    self.make = make
    if let first = family.first {
      entries.append(Entry(entity: first.number, code: try make(first)))
    }
  }

  /// The code if there is only one entity, otherwise `nil`.
  var single: Code? { family.count == 1 ? entries[0].code : nil }

  /// The code for an object, or `nil` if it belongs to another family.
  @inline(__always)
  subscript(number: ObjectNumber) -> Code? {
    let entity = number.entity
    for entry in entries where entry.entity == entity { return entry.code }
    return code(for: entity)
  }

  @inline(never)
  private func code(for number: UInt16) -> Code? {
    guard let entity = family.first(where: { $0.number == number }),
      let code = try? make(entity)
    else { return nil }
    entries.append(Entry(entity: number, code: code))
    return code
  }
}
