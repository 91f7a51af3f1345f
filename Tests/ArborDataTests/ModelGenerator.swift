import ArborData
import TestSupport

/// A generator of random models and random changes to them.
struct ModelGenerator {
  var random: SeededRandom
  private(set) var concept = ModelConcept()
  /// Descriptions of the most recent changes.
  private(set) var words: [String] = []
  private var last = 0
  /// The last identity of the former model. Parts added later have greater ones and must not take
  /// the name of a former part, which they would be mistaken for.
  private var lastOfFormer = Int.max

  /// Creates a model with inheritance, indexes on parents, and relationships of every form.
  init(_ random: SeededRandom) {
    self.random = random
    for _ in 0..<number(3...6) { addEntity() }
    for _ in 0..<number(2...5) { addPair() }
    // An entity with subentities may be abstract.
    for index in concept.entities.indices where isParent(index) && chance(2) {
      concept.entities[index].isAbstract = true
    }
    concept.order = self.random.next()
    words = []
  }

  /// Makes a few changes at once.
  mutating func change() {
    words = []
    lastOfFormer = last
    if !chance(4) {
      concept.order = random.next()
      words.append("other order")
    }
    let count = number(1...4)
    while words.count < count { changeOne() }
  }

  private mutating func changeOne() {
    switch number(0...21) {
    case 0: addEntity()
    case 1: removeEntity()
    case 2, 3: renameEntity()
    case 4: swapEntities()
    case 5: insertParent()
    case 6: addAttribute()
    case 7: removeAttribute()
    case 8: renameAttribute()
    case 9: swapAttributes()
    case 10: changeIndexes()
    case 11: moveAttribute()
    case 12: widenAttribute()
    case 13: addPair()
    case 14: removePair()
    case 15: renameSide()
    case 16: swapSides()
    case 17, 18: movePair()
    default: changeSide()
    }
  }

  // MARK: Random choices and names

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func chance(_ count: Int) -> Bool { number(1...count) == 1 }

  private mutating func identity() -> Int {
    last += 1
    return last
  }

  /// Returns an unused name that may sort before or after existing ones.
  private mutating func name(_ identity: Int, isEntity: Bool = false) -> String {
    let letter = String(UnicodeScalar(UInt8(97 + number(0...25))))
    return (isEntity ? letter.uppercased() : letter) + String(identity)
  }

  private mutating func element<T>(_ elements: [T]) -> T? { elements.randomElement(using: &random) }

  private func isParent(_ index: Int) -> Bool {
    concept.entities.contains { $0.parent == concept.entities[index].identity }
  }

  // MARK: Entities

  private mutating func addEntity() {
    let identity = identity()
    let parent = chance(3) ? nil : element(concept.entities.filter(\.hasID))?.identity
    var entity = ModelConcept.Entity(
      identity: identity, name: name(identity, isEntity: true), parent: parent)
    entity.isUnique = chance(3)
    for _ in 0..<number(0...3) {
      let attribute = attribute()
      entity.attributes.append(attribute)
    }
    concept.entities.append(entity)
    changeIndexes(of: concept.entities.count - 1)
    words.append("\(entity.name) added")
  }

  private mutating func removeEntity() {
    let indices = concept.entities.indices.filter { !isParent($0) }
    guard concept.concrete.count > 2, let index = element(indices) else { return }
    let entity = concept.entities.remove(at: index)
    concept.pairs.removeAll { $0.ends.contains(entity.identity) }
    words.append("\(entity.name) removed")
  }

  private mutating func renameEntity() {
    let indices = concept.entities.indices.filter { concept.entities[$0].hasID }
    guard let index = element(indices) else { return }
    let former = concept.entities[index].name
    let name = name(identity(), isEntity: true)
    concept.entities[index].name = name
    words.append("\(former) renamed to \(name)")
  }

  private mutating func swapEntities() {
    let indices = concept.entities.indices.filter {
      concept.entities[$0].hasID && concept.entities[$0].identity <= lastOfFormer
    }
    guard let one = element(indices), let other = element(indices), one != other else { return }
    let name = concept.entities[one].name
    concept.entities[one].name = concept.entities[other].name
    concept.entities[other].name = name
    words.append("\(name) and \(concept.entities[one].name) swapped")
  }

  /// Inserts an abstract parent above some roots.
  private mutating func insertParent() {
    let roots = concept.entities.indices.filter { concept.entities[$0].parent == nil }
    let chosen = roots.shuffled(using: &random).prefix(number(1...2))
    guard chosen.allSatisfy({ concept.entities[$0].hasID }) else { return }
    let identity = identity()
    var parent = ModelConcept.Entity(identity: identity, name: "Late\(identity)", isAbstract: true)
    parent.attributes = [attribute()]
    for index in chosen { concept.entities[index].parent = identity }
    concept.entities.append(parent)
    words.append("\(parent.name) above \(chosen.map { concept.entities[$0].name })")
  }

  // MARK: Attributes

  private mutating func attribute() -> ModelConcept.Attribute {
    let types: [AttributeType] = [
      .boolean, .integer16, .integer32, .integer64, .string, .date, .double,
    ]
    let (identity, type) = (identity(), element(types) ?? .string)
    var attribute = ModelConcept.Attribute(identity: identity, name: name(identity), type: type)
    if chance(4) { attribute.defaultValue = PlainValues.value(type, &random) }
    attribute.isIndexed = chance(3)
    return attribute
  }

  private mutating func addAttribute() {
    guard let index = element(Array(concept.entities.indices)) else { return }
    let attribute = attribute()
    concept.entities[index].attributes.append(attribute)
    words.append("\(concept.entities[index].name).\(attribute.name) added")
  }

  /// Returns the indexes of a random attribute and its entity.
  private mutating func place(
    where isMeant: (ModelConcept.Entity, ModelConcept.Attribute) -> Bool = { _, _ in true }
  ) -> (entity: Int, attribute: Int)? {
    element(
      concept.entities.indices.flatMap { entity in
        concept.entities[entity].attributes.indices
          .filter { isMeant(concept.entities[entity], concept.entities[entity].attributes[$0]) }
          .map { (entity, $0) }
      })
  }

  private mutating func removeAttribute() {
    guard let place = place() else { return }
    let attribute = concept.entities[place.entity].attributes.remove(at: place.attribute)
    concept.entities[place.entity].index.removeAll { $0 == attribute.identity }
    words.append("\(attribute.name) removed")
  }

  private mutating func renameAttribute() {
    guard let place = place() else { return }
    let former = concept.entities[place.entity].attributes[place.attribute].name
    let name = name(identity())
    concept.entities[place.entity].attributes[place.attribute].name = name
    words.append("\(former) renamed to \(name)")
  }

  private mutating func swapAttributes() {
    let isFormer = { [lastOfFormer] (attribute: ModelConcept.Attribute) in
      attribute.identity <= lastOfFormer
    }
    guard let place = place(where: { isFormer($1) }) else { return }
    let attributes = concept.entities[place.entity].attributes
    guard let other = element(attributes.indices.filter { isFormer(attributes[$0]) }),
      other != place.attribute
    else { return }
    let name = concept.entities[place.entity].attributes[place.attribute].name
    let otherName = concept.entities[place.entity].attributes[other].name
    concept.entities[place.entity].attributes[place.attribute].name = otherName
    concept.entities[place.entity].attributes[other].name = name
    words.append("\(name) and \(otherName) swapped")
  }

  private mutating func changeIndexes() {
    guard let index = element(Array(concept.entities.indices)) else { return }
    changeIndexes(of: index)
    words.append("indexes of \(concept.entities[index].name)")
  }

  private mutating func changeIndexes(of index: Int) {
    let attributes = concept.entities[index].attributes
    for attribute in attributes.indices where chance(2) {
      let isIndexed = chance(2)
      concept.entities[index].attributes[attribute].isIndexed = isIndexed
    }
    let chosen = attributes.map(\.identity).filter { _ in chance(2) }
    let (isPartial, isUnique) = (chance(3), chance(3))
    concept.entities[index].index = chosen
    concept.entities[index].isPartial = isPartial
    concept.entities[index].isUnique = isUnique
  }

  /// Moves an attribute up to the parent.
  private mutating func moveAttribute() {
    let place = place { entity, attribute in
      entity.parent != nil && attribute.defaultValue.isNull
    }
    guard let place, let parent = concept.entities[place.entity].parent.flatMap(concept.index)
    else { return }
    let attribute = concept.entities[place.entity].attributes.remove(at: place.attribute)
    concept.entities[place.entity].index.removeAll { $0 == attribute.identity }
    concept.entities[parent].attributes.append(attribute)
    words.append("\(attribute.name) moved up to \(concept.entities[parent].name)")
  }

  private mutating func widenAttribute() {
    let place = place { _, attribute in [.integer16, .integer32].contains(attribute.type) }
    guard let place else { return }
    concept.entities[place.entity].attributes[place.attribute].type = .integer64
    words.append(
      "\(concept.entities[place.entity].attributes[place.attribute].name) widened")
  }

  // MARK: Relationships

  private mutating func side() -> ModelConcept.Side {
    let identity = identity()
    return ModelConcept.Side(
      identity: identity, name: name(identity), form: element(Array(Form.allCases)) ?? .toOne)
  }

  private typealias Form = ModelConcept.Side.Form

  private mutating func addPair() {
    let entities = concept.entities.filter(\.hasID)
    guard let one = element(entities), let other = element(entities) else { return }
    var sides: [ModelConcept.Side?] = [side(), chance(3) ? nil : side()]
    if chance(2) { sides.swapAt(0, 1) }
    let pair = ModelConcept.Pair(
      identity: identity(), ends: [one.identity, other.identity], sides: sides)
    concept.pairs.append(pair)
    words.append("links of \(one.name) and \(other.name) added")
  }

  private mutating func removePair() {
    guard let index = element(Array(concept.pairs.indices)) else { return }
    concept.pairs.remove(at: index)
    words.append("links removed")
  }

  /// Returns the indexes of a random side and its pair.
  private mutating func sidePlace() -> (pair: Int, end: Int)? {
    element(
      concept.pairs.indices.flatMap { pair in
        [0, 1].filter { concept.pairs[pair].sides[$0] != nil }.map { (pair, $0) }
      })
  }

  private mutating func renameSide() {
    guard let place = sidePlace(), let side = concept.pairs[place.pair].sides[place.end] else {
      return
    }
    let name = name(identity())
    concept.pairs[place.pair].sides[place.end]?.name = name
    words.append("relationship \(side.name) renamed to \(name)")
  }

  /// Swaps the names of two relationships of one entity.
  private mutating func swapSides() {
    guard let one = sidePlace(), let other = sidePlace(), one != other,
      concept.pairs[one.pair].ends[one.end] == concept.pairs[other.pair].ends[other.end],
      let side = concept.pairs[one.pair].sides[one.end], side.identity <= lastOfFormer,
      let otherSide = concept.pairs[other.pair].sides[other.end],
      otherSide.identity <= lastOfFormer
    else { return }
    concept.pairs[one.pair].sides[one.end]?.name = otherSide.name
    concept.pairs[other.pair].sides[other.end]?.name = side.name
    words.append("relationships \(side.name) and \(otherSide.name) swapped")
  }

  /// Moves an end of links up to the parent.
  private mutating func movePair() {
    let pairs = concept.pairs
    let places = pairs.indices.flatMap { pair in [0, 1].map { (pair, $0) } }.filter { place in
      concept[pairs[place.0].ends[place.1]]?.parent != nil
    }
    guard let (pair, end) = element(places),
      let parent = concept[pairs[pair].ends[end]]?.parent.flatMap({ concept[$0] }), parent.hasID
    else { return }
    concept.pairs[pair].ends[end] = parent.identity
    let names = pairs[pair].sides.map { $0?.name ?? "none" }
    words.append("end \(end) of links \(names) moved up to \(parent.name)")
  }

  /// Changes the form of a side, replaces it, adds it, or removes it.
  private mutating func changeSide() {
    guard let index = element(Array(concept.pairs.indices)) else { return }
    let end = number(0...1)
    let former = concept.pairs[index].sides[end]
    switch number(0...2) {
    case 0 where former != nil && concept.pairs[index].sides[1 - end] != nil:
      concept.pairs[index].sides[end] = nil
    case 1 where former != nil:
      let form = element(Array(Form.allCases))
      concept.pairs[index].sides[end]?.form = form ?? .toOne
    default:
      let side = side()
      concept.pairs[index].sides[end] = side
    }
    func words(_ side: ModelConcept.Side?) -> String {
      side.map { "\($0.name) (\($0.form))" } ?? "none"
    }
    self.words.append(
      "relationship \(words(former)) becomes \(words(concept.pairs[index].sides[end]))")
  }
}
