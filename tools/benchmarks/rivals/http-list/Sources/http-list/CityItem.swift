import Foundation
import Hummingbird

/// A city as clients get it.
struct CityItem: Codable, Sendable, ResponseEncodable {
  let geonameID: Int64
  let name: String
  let country: String
  let latitude: Double
  let longitude: Double
  let population: Int64
  let timeZone: String

  /// A made-up one.
  init(number: Int64) {
    // Neighbours in the list have nothing in common but that.
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

/// Where the lists come from.
protocol CityLists: Sendable {
  /// The first 20 cities whose ID is above another's, by their IDs.
  func cities(after geonameID: Int64) async throws -> [CityItem]
}

/// One list for every request.
struct FixedCities: CityLists {
  private let items = (1...20).map { CityItem(number: $0) }

  func cities(after geonameID: Int64) -> [CityItem] { items }
}

/// Answers `GET /cities/ID` until the process is ended.
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
