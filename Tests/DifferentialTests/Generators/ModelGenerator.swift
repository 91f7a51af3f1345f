/// A generator of random models with one to four entities that cover all kinds of indexes, paths
/// and orders.
struct ModelGenerator {
  /// Names that must be escaped in a predicate's text.
  static let reservedNames: Set<String> = ["first", "size", "any", "like", "in", "cast"]

  private static let entityNames = ["Zebra", "Ape", "Mole", "Bee"]

  let dice: Dice
  private var model = PlainModel()
  private var counter = 0
  private var spareNames = ["first", "size", "any", "like", "in", "cast", "gr\u{F6}\u{DF}e", "_x"]

  init(dice: Dice) { self.dice = dice }

  static func make(_ dice: Dice) -> PlainModel {
    var generator = ModelGenerator(dice: dice)
    return generator.make()
  }

  private mutating func make() -> PlainModel {
    for entityIndex in 0..<dice.int(1...4) { addEntity(entityIndex) }
    for _ in 0..<dice.int(1...(2 * model.entities.count)) { addRelationship() }
    for entityIndex in model.entities.indices {
      for _ in 0..<dice.int(0...5) { addIndex(to: entityIndex) }
    }
    return model
  }

  private mutating func name(_ prefix: String) -> String {
    if prefix == "a", dice.chance(8), !spareNames.isEmpty {
      return spareNames.remove(at: dice.int(0...(spareNames.count - 1)))
    }
    counter += 1
    return "\(prefix)\(counter)"
  }

  private mutating func addEntity(_ entityIndex: Int) {
    var entity = PlainModel.Entity(
      name: Self.entityNames[entityIndex],
      parent: entityIndex > 0 && dice.chance(40) ? dice.int(0...(entityIndex - 1)) : nil,
      isAbstract: entityIndex > 0 && dice.chance(15))
    if let parent = entity.parent, !model.entities[parent].isAbstract { entity.isAbstract = false }
    for _ in 0..<dice.int(2...6) {
      entity.attributes.append(
        PlainModel.Attribute(
          name: name("a"),
          kind: dice.chance(30) ? .text : dice.one(PlainModel.Kind.allCases),
          isOptional: dice.chance(70)))
    }
    if dice.chance(40) {
      entity.attributes.append(
        PlainModel.Attribute(name: name("w"), kind: .text, isOptional: true, hasWords: true))
    }
    if dice.chance(35) {
      let parts = (0..<dice.int(1...3)).map { _ in
        PlainModel.Attribute(
          name: name("p"), kind: dice.one(PlainModel.Kind.allCases), isOptional: true)
      }
      entity.composites.append(PlainModel.Composite(name: name("c"), parts: parts))
    }
    if dice.chance(30) {
      let attribute = PlainModel.Attribute(
        name: name("u"), kind: dice.one([.text, .integer64]), isOptional: dice.chance(50),
        isUnique: true)
      entity.attributes.append(attribute)
      entity.uniqueness.append([attribute.name])
      if dice.chance(30) { entity.uniqueness.append([entity.attributes[0].name, attribute.name]) }
    }
    model.entities.append(entity)
  }

  private mutating func addRelationship() {
    let owner = dice.int(0...(model.entities.count - 1))
    let destination = dice.int(0...(model.entities.count - 1))
    let hasInverse = dice.chance(85)
    let isToMany = dice.chance(50)
    let name = name("r")
    let inverse = hasInverse ? self.name("r") : nil
    model.entities[owner].relationships.append(
      PlainModel.Relationship(
        name: name, owner: owner, destination: destination, isToMany: isToMany,
        isOrdered: isToMany && dice.chance(30), inverse: inverse))
    guard let inverse else { return }
    let isBackToMany = dice.chance(60)
    model.entities[destination].relationships.append(
      PlainModel.Relationship(
        name: inverse, owner: destination, destination: owner, isToMany: isBackToMany,
        isOrdered: isBackToMany && dice.chance(30), inverse: name))
  }

  private mutating func addIndex(to entityIndex: Int) {
    let columns =
      model.attributes(entityIndex).map(\.name)
      + model.relationships(entityIndex).filter { !$0.isToMany }.map(\.name)
    let texts = model.attributes(entityIndex).filter { $0.kind == .text }.map(\.name)
    var index = PlainModel.Index(name: name("i"), columns: [])
    if dice.chance(15), let text = dice.some(texts) {
      index.columns = [.init(property: text, order: .words)]
    } else {
      index.columns = dice.few(columns, upTo: 3).map { column in
        let isFolded = texts.contains(column) && dice.chance(40)
        return .init(
          property: column, isAscending: dice.chance(65), order: isFolded ? .folded : .plain)
      }
    }
    if index.columns.isEmpty { return }
    if dice.chance(20) {
      let predicates = PredicateGenerator(dice: dice, graph: PlainGraph(model))
      index.condition = predicates.condition(on: entityIndex)
    }
    model.entities[entityIndex].indexes.append(index)
  }
}
