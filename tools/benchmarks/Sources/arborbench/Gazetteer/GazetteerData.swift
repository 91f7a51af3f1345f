import Foundation

/// Generated data with the shape of a gazetteer: countries, and cities that cluster in them.
///
/// Populations and the number of cities per country have a realistic skew. Names are in the scripts
/// of their countries, with diacritics, and have alternates in other scripts. The same seed always
/// generates the same data.
struct GazetteerData {
  struct CityRow {
    let geonameID: Int64
    let name: String
    let asciiName: String
    let alternateNames: String
    let latitude: Double
    let longitude: Double
    let featureCode: String
    let adminCode: String
    let population: Int64
    /// The elevation in meters, or `nil` if unknown.
    let elevation: Int64?
    let timeZone: String
    /// The date in seconds since 1970, in whole days.
    let modified: Double
    /// The country's number, from 1.
    let country: Int
  }

  struct CountryRow {
    let code: String
    let name: String
  }

  static let countryCount = 252

  let countries: [CountryRow]
  let cities: [CityRow]

  /// Generates `count` cities in 252 countries.
  init(count: Int, seed: UInt64 = 7) {
    var random = SplitMix(seed: seed)
    let regions = (0..<Self.countryCount).map { GazetteerRegion(number: $0, &random) }
    countries = regions.map { CountryRow(code: $0.code, name: $0.name) }
    var geonameIDs = (1...Int64(count)).map { $0 }
    for last in stride(from: count - 1, to: 0, by: -1) {
      geonameIDs.swapAt(last, random.below(last + 1))
    }
    cities = geonameIDs.map { geonameID in
      // Few countries have most of the cities.
      let share = random.unit()
      let number = Int(pow(share, 3) * Double(Self.countryCount))
      return regions[number].city(geonameID, country: number + 1, &random)
    }
  }
}

/// A country of the data: its location, and the script of its names.
struct GazetteerRegion {
  let code: String
  let name: String
  private let names: PlaceNames
  private let centers: [(latitude: Double, longitude: Double)]
  private let timeZones: [String]

  init(number: Int, _ random: inout SplitMix) {
    code = String(decoding: [65 + UInt8(number / 26), 65 + UInt8(number % 26)], as: UTF8.self)
    names = PlaceNames(
      script: PlaceNames.Script.allCases[number % PlaceNames.Script.allCases.count])
    let latitude = random.unit() * 120 - 55
    let longitude = random.unit() * 340 - 170
    centers = (0..<12).map { _ in
      (latitude + random.unit() * 12 - 6, longitude + random.unit() * 16 - 8)
    }
    name = PlaceNames(script: .latin).make(&random).ascii
    let zoneCount = 1 + random.below(4)
    timeZones = (0..<zoneCount).map { _ in
      "Area/" + PlaceNames(script: .latin).make(&random).ascii.replacing(" ", with: "_")
    }
  }

  func city(_ geonameID: Int64, country: Int, _ random: inout SplitMix) -> GazetteerData.CityRow {
    let (name, ascii) = names.make(&random)
    let center = centers[random.below(centers.count)]
    // The sum of three uniformly distributed numbers is near its mean.
    let spread = { (random: inout SplitMix) in
      (random.unit() + random.unit() + random.unit() - 1.5) * 2
    }
    let round = { (value: Double) in (value * 100_000).rounded() / 100_000 }
    let isCounted = random.below(10) > 0
    let population = isCounted ? Int64(400 / pow(1 - random.unit() * 0.9999, 0.9)) : 0
    return GazetteerData.CityRow(
      geonameID: geonameID, name: name, asciiName: ascii,
      alternateNames: alternates(of: name, ascii, &random),
      latitude: round(center.latitude + spread(&random)),
      longitude: round(center.longitude + spread(&random)),
      featureCode: random.below(5) > 0 ? "PPL" : "PPLA\(1 + random.below(4))",
      adminCode: "\(code).\(10 + random.below(30))", population: population,
      elevation: random.below(5) == 0 ? Int64(random.below(3_000)) : nil,
      timeZone: timeZones[random.below(timeZones.count)],
      modified: Double(11_000 + random.below(9_000)) * 86_400, country: country)
  }

  /// Returns the alternate names of a place: none for a third of all places, many for some.
  private func alternates(of name: String, _ ascii: String, _ random: inout SplitMix) -> String {
    guard random.below(3) > 0 else { return "" }
    var alternates = name == ascii ? [] : [ascii]
    let count = 1 + Int(8 * pow(random.unit(), 2))
    let scripts = PlaceNames.Script.allCases
    for _ in 0..<count {
      alternates.append(PlaceNames(script: scripts[random.below(scripts.count)]).make(&random).name)
    }
    return alternates.joined(separator: ",")
  }
}
