import ArborModel
import Foundation

extension PredicateWorld {
  /// Creates a company `Foo` with three people and an empty company `Bar`.
  static func office() throws -> PredicateWorld {
    let world = try PredicateWorld()
    let foo = world.insert(world.company, ["title": "Foo", "size": 10])
    let bar = world.insert(world.company, ["title": "Bar", "size": 20])
    let ada = world.insert(
      world.person,
      [
        "name": "Ada", "long": 36, "ratio": 1.5, "company": .objectID(foo.id), "flag": true,
        "born": .date(Date(timeIntervalSinceReferenceDate: 1000)), "price": .decimal(10),
      ])
    let bob = world.insert(
      world.worker,
      [
        "name": "Bob", "long": 20, "ratio": 2.5, "company": .objectID(foo.id),
        "boss": .objectID(ada.id), "wage": 7, "extra": ["x", "y"],
      ])
    let cy = world.insert(
      world.person, ["name": "Cy", "company": .objectID(foo.id), "boss": .objectID(ada.id)])
    world.insert(world.person, ["name": "Dan", "long": 50, "boss": .objectID(bob.id)])
    world.link(foo, "ranking", to: [cy, ada, bob])
    world.link(bar, "ranking", to: [])
    return world
  }

  /// Returns whether a predicate without key paths is true.
  static func holds(_ text: String) throws -> Bool {
    try holds(FetchPredicate(stringLiteral: text))
  }

  /// Returns whether a predicate matches a company without values.
  static func holds(_ predicate: FetchPredicate) throws -> Bool {
    let world = try PredicateWorld()
    world.insert(world.company, [:])
    return try world.matches(predicate, in: world.company).count == 1
  }
}
