import ArborData
import TestSupport

/// Changes that keep all values and links.
extension ModelWalk {
  /// Changes bounds, a default, an index, or external storage.
  mutating func changeRules(_ entity: Int) -> Change? {
    guard let index = attribute(entity) else { return nil }
    var attribute = model.entities[entity].attributes[index]
    var isLasting = true
    let isInteger = [.integer16, .integer32, .integer64].contains(attribute.type)
    if isInteger, Bool.random(using: &random) {
      let isBounded = attribute.minimum.isNull
      attribute.minimum = isBounded ? -1000 : .null
      attribute.maximum = isBounded ? 1000 : .null
    } else if attribute.type == .binary {
      attribute.allowsExternalStorage.toggle()
    } else if attribute.defaultValue.isNull || Bool.random(using: &random) {
      attribute.isIndexed.toggle()
    } else {
      // A migration that skips this version fills the attribute with the later default instead.
      attribute.defaultValue = value(attribute.type)
      isLasting = false
    }
    model.entities[entity].attributes[index] = attribute
    let words = "\(model.entities[entity].name).\(attribute.name) has other rules"
    return Change(words: words, isLasting: isLasting) { _ in }
  }

  /// Changes a uniqueness constraint, the class, the version hash modifier, or a delete rule.
  mutating func changeDeclaration(_ entity: Int) -> Change? {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let isUnique = !model.entities[entity].uniquenessConstraints.isEmpty
      model.entities[entity].uniquenessConstraints = isUnique ? [] : [["id"]]
    case 1: model.entities[entity].className = freeName("C", [])
    case 2: model.entities[entity].versionHashModifier = freeName("M", [])
    default:
      let relationships = model.entities[entity].relationships.indices
      guard let index = relationships.randomElement(using: &random) else { return nil }
      let rule = model.entities[entity].relationships[index].deleteRule
      model.entities[entity].relationships[index].deleteRule =
        rule == .cascade ? .nullify : .cascade
    }
    return Change(words: "\(model.entities[entity].name) is declared otherwise") { _ in }
  }

  /// Adds a transient or derived attribute.
  mutating func addUnstored(_ entity: Int) -> Change? {
    guard let name = freeProperty(entity) else { return nil }
    let isDerived = Bool.random(using: &random)
    model.entities[entity].attributes.append(
      AttributeDescription(
        name: name, type: .integer64, isOptional: true, isTransient: !isDerived,
        derivation: isDerived ? "id * 2" : nil))
    let words = "\(model.entities[entity].name).\(name) \(isDerived ? "derived" : "transient")"
    return Change(words: words) { _ in }
  }

  /// Gives an entity a parent and moves one of its attributes there, or removes its parent.
  mutating func changeParent(_ entity: Int) -> Change? {
    let name = model.entities[entity].name
    if let parent = model.entities[entity].parent {
      guard let index = model.entities.firstIndex(where: { $0.name == parent }) else { return nil }
      model.entities[entity].attributes += model.entities[index].attributes
      model.entities[entity].parent = nil
      model.entities.remove(at: index)
      return Change(words: "\(name) without \(parent)") { _ in }
    }
    guard let index = attribute(entity), let parent = freeName("P", model.entities.map(\.name))
    else { return nil }
    let attribute = model.entities[entity].attributes.remove(at: index)
    model.entities.append(
      EntityDescription(name: parent, isAbstract: true, attributes: [attribute]))
    model.entities[entity].parent = parent
    return Change(words: "\(name) under \(parent)") { _ in }
  }
}
