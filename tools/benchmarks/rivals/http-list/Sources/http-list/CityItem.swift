import Foundation
import Hummingbird

/// A city in responses.
struct CityItem: Codable, Sendable, ResponseEncodable {
  let geonameID: Int64
  let name: String
  let country: String
  let latitude: Double
  let longitude: Double
  let population: Int64
  let timeZone: String

  /// Creates a generated city.
  init(number: Int64) {
    // Cities that are adjacent in the list are otherwise unrelated.
    let mixed = UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
    geonameID = number
    name = "City of \(String(mixed >> 20, radix: 36))"
    country = Locale.Region.isoRegions[Int(mixed % 200)].identifier
    latitude = Double(mixed % 18_000) / 100 - 90
    longitude = Double(mixed % 36_000) / 100 - 180
    population = Int64(mixed % 4_000_000)
    timeZone = "Europe/Bucharest"
  }

  init(
    geonameID: Int64, name: String, country: String, latitude: Double, longitude: Double,
    population: Int64, timeZone: String
  ) {
    self.geonameID = geonameID
    self.name = name
    self.country = country
    self.latitude = latitude
    self.longitude = longitude
    self.population = population
    self.timeZone = timeZone
  }
}

/// A source of lists.
protocol CityLists: Sendable {
  /// Returns the first 20 cities with IDs greater than the given one, sorted by ID.
  func cities(after geonameID: Int64) async throws -> [CityItem]
}

/// A source that returns the same list for every request.
struct FixedCities: CityLists {
  private let items = (1...20).map { CityItem(number: $0) }

  func cities(after geonameID: Int64) -> [CityItem] { items }
}

/// Serves `GET /cities/ID` until the process is terminated.
func serve(_ source: any CityLists, port: Int) async throws {
  let router = Router()
  router.get("cities/:after") { _, context -> [CityItem] in
    try await source.cities(after: context.parameters.require("after", as: Int64.self))
  }
  var application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
  application.logger.logLevel = .error
  try await application.runService()
}
