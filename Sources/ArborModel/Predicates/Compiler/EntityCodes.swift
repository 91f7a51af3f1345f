/// Compiled code for the objects of a family of entities. It is created lazily for each concrete
/// entity, so that the cost for a large family depends on the objects encountered.
final class EntityCodes<Code> {
  private struct Entry {
    let entity: UInt16
    let code: Code
  }

  private var entries: [Entry] = []
  private let family: [EntitySchema]
  private let make: (EntitySchema) throws(ArborError) -> Code

  /// - Throws: The error of compiling for the first entity. If compiling fails for one entity, it
  ///   fails for all.
  init(
    _ family: [EntitySchema], _ make: @escaping (EntitySchema) throws(ArborError) -> Code
  ) throws(ArborError) {
    self.family = family
    self.make = make
    if let first = family.first {
      entries.append(Entry(entity: first.number, code: try make(first)))
    }
  }

  /// The code if the family has only one entity, otherwise `nil`.
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
