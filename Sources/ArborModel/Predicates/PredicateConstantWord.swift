/// A reserved word that a predicate uses as a constant, such as `no`.
///
/// Reserved words are case-insensitive, so a predicate may mean a property of the same name.
struct PredicateConstantWord: Sendable {
  let word: String
  let value: PropertyValue
  let site: PredicateSite

  /// Refuses a word that is also the name of a property of an entity.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate`.
  func check(in entity: EntitySchema) throws(ArborError) {
    guard entity.property(named: word) != nil else { return }
    let spellings: [String]
    switch value {
    case .boolean(true): spellings = ["TRUE", "YES"]
    case .boolean: spellings = ["FALSE", "NO"]
    default: spellings = ["NIL", "NULL"]
    }
    let constant = spellings.first { entity.property(named: $0) == nil } ?? spellings[0]
    throw site.error(
      "\"\(word)\" is a reserved word for the constant \(constant), but \(entity.name) has a "
        + "property of that name. Write #\(word) for the property, or \(constant) for the constant."
    ).with(entity: entity.name, keyPath: word)
  }
}
