import ArborData
import Foundation

/// The gazetteer in a store.
final class ArborGazetteer: GazetteerRival {
  private let path: String
  private var store: PersistentStore

  init(path: String) throws {
    self.path = path
    store = try Self.open(path)
  }

  private static func open(_ path: String) throws -> PersistentStore {
    try PersistentStore(for: [Country.self, City.self], at: .path(path))
  }

  private var cities: ObjectQuery<City> { store.makeContext().objects(City.self) }

  func load(_ data: GazetteerData, batch: Int) throws {
    let context = store.makeContext()
    let countries = data.countries.map { row in
      let country = context.insert(Country.self)
      country.code = row.code
      country.name = row.name
      return country.objectID
    }
    try context.commit()
    for start in stride(from: 0, to: data.cities.count, by: batch) {
      for row in data.cities[start..<min(start + batch, data.cities.count)] {
        let country = try context.object(with: countries[row.country - 1]) as? Country
        context.insert(City.self).fill(from: row, country: country)
      }
      try context.commit()
      context.reset()
    }
  }

  func size() throws -> Int {
    store.close()
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    store = try Self.open(path)
    return size
  }

  func compactedSize() throws -> Int {
    let copy = path + "-compacted"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try store.copy(to: URL(filePath: copy), compacting: true)
    return try FileManager.default.attributesOfItem(atPath: copy)[.size] as? Int ?? 0
  }

  func compact() throws { try store.compact() }

  private func predicate(_ box: GazetteerBox) throws -> FetchPredicate {
    try FetchPredicate(
      format: "latitude BETWEEN {%@, %@} AND longitude BETWEEN {%@, %@}", box.south, box.north,
      box.west, box.east)
  }

  func count(in boxes: [GazetteerBox]) throws -> GazetteerAnswer {
    let cities = cities
    var answer = GazetteerAnswer()
    for box in boxes { answer.count += try cities.filter(predicate(box)).count() }
    return answer
  }

  func fetch(in boxes: [GazetteerBox]) throws -> GazetteerAnswer {
    var answer = GazetteerAnswer()
    for box in boxes {
      let context = store.makeContext()
      for city in try context.objects(City.self).filter(predicate(box)).fetch() {
        answer.add(city.name, city.population)
      }
    }
    return answer
  }

  func group() throws -> GazetteerAnswer {
    let rows = try cities.rows(
      "country", "@count AS cities", "sum(population) AS people", "max(elevation) AS highest",
      groupedBy: ["country"])
    var answer = GazetteerAnswer()
    for row in rows {
      guard case .objectID(let country)? = row["country"] else {
        throw BenchmarkError("a group without a country")
      }
      answer.add(
        group: Int64(country.number), integer(row["cities"]), integer(row["people"]),
        integer(row["highest"]))
    }
    return answer
  }

  private func integer(_ value: PropertyValue?) -> Int64 {
    if case .integer(let number)? = value { number } else { -1 }
  }

  func sum() throws -> GazetteerAnswer {
    let sum = try cities.value(of: .sum("population"))
    return GazetteerAnswer(count: 1, checksum: UInt64(integer(sum)))
  }

  func scan() throws -> GazetteerAnswer {
    GazetteerAnswer(count: try cities.filter("elevation > 1000").count())
  }

  func amongLarge() throws -> GazetteerAnswer {
    let predicate: FetchPredicate =
      "SUBQUERY(country.cities, $c, $c.population > 200000).@count > 3"
    return GazetteerAnswer(count: try cities.filter(predicate).count())
  }

  func contains(_ text: String) throws -> GazetteerAnswer { try contains(text, "asciiName") }

  func containsInName(_ text: String) throws -> GazetteerAnswer { try contains(text, "name") }

  private func contains(_ text: String, _ attribute: String) throws -> GazetteerAnswer {
    let predicate = try FetchPredicate(format: "%K CONTAINS[cd] %@", attribute, text)
    return GazetteerAnswer(count: try cities.filter(predicate).count())
  }

  func match(_ words: [String]) throws -> GazetteerAnswer {
    let cities = cities
    var answer = GazetteerAnswer()
    for word in words {
      let predicate = try FetchPredicate(format: "alternateNames TOKENMATCHES %@", word)
      answer.count += try cities.filter(predicate).count()
    }
    return answer
  }

  func delete(upTo last: Int64) throws -> GazetteerAnswer {
    let context = store.makeContext()
    try context.objects(City.self).filter(FetchPredicate(format: "geonameID <= %@", last)).delete()
    try context.commit()
    let rest = cities
    return GazetteerAnswer(
      count: try rest.count(), checksum: UInt64(integer(try rest.value(of: .sum("population")))))
  }
}
