/// Code for objects of a family, made for each concrete entity when its first object comes: a
/// path over large families costs what its objects need.
final class EntityCodes<Code> {
  private struct Entry {
    let entity: UInt16
    let code: Code
  }

  private var entries: [Entry] = []
  private let family: [EntitySchema]
  private let make: (EntitySchema) throws(ArborError) -> Code

  /// - Throws: What making the code of the first entity throws. What is wrong with one is wrong
  ///   with all.
  init(
    _ family: [EntitySchema], _ make: @escaping (EntitySchema) throws(ArborError) -> Code
  ) throws(ArborError) {
    self.family = family
    self.make = make
    if let first = family.first {
      entries.append(Entry(entity: first.number, code: try make(first)))
    }
  }

  /// The only code there can be, where there is one entity only.
  var single: Code? { family.count == 1 ? entries[0].code : nil }

  /// The code for an object; nil for one of another family.
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
