import ArborData
import Foundation

/// Cities in a store, read as in a service: with a context for each request.
struct ArborCities: CityLists {
  private let store: PersistentStore

  /// Opens the store, and fills it if it is empty.
  init(path: String, count: Int64) throws {
    store = try PersistentStore(for: [City.self], at: .path(path))
    let context = store.makeContext()
    guard try context.objects(City.self).isEmpty() else { return }
    for number in 1...count {
      context.insert(City.self).fill(from: CityItem(number: number))
    }
    try context.commit()
  }

  func cities(after geonameID: Int64) async throws -> [CityItem] {
    try await store.perform { context in
      try context.objects(City.self).filter("geonameID > \(geonameID)").order(by: "geonameID")
        .limit(20).fetch().map(\.item)
    }
  }
}

final class City: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "City", className: "City",
    attributes: [
      AttributeDescription(name: "geonameID", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "name", type: .string, defaultValue: ""),
      AttributeDescription(name: "country", type: .string, defaultValue: ""),
      AttributeDescription(name: "latitude", type: .double, defaultValue: 0),
      AttributeDescription(name: "longitude", type: .double, defaultValue: 0),
      AttributeDescription(name: "population", type: .integer64, defaultValue: 0),
      AttributeDescription(name: "timeZone", type: .string, defaultValue: ""),
    ], uniquenessConstraints: [["geonameID"]])

  fileprivate var item: CityItem {
    CityItem(
      geonameID: _attribute(0), name: _attribute(1), country: _attribute(2),
      latitude: _attribute(3),
      longitude: _attribute(4), population: _attribute(5), timeZone: _attribute(6))
  }

  fileprivate func fill(from item: CityItem) {
    _setAttribute(0, item.geonameID)
    _setAttribute(1, item.name)
    _setAttribute(2, item.country)
    _setAttribute(3, item.latitude)
    _setAttribute(4, item.longitude)
    _setAttribute(5, item.population)
    _setAttribute(6, item.timeZone)
  }
}
