import Foundation

/// What one implementation answers: the number of rows, and a number that tells the rows.
struct GazetteerAnswer: Equatable {
  var count = 0
  var checksum: UInt64 = 0

  mutating func add(_ name: String, _ population: Int64) {
    count += 1
    checksum &+= UInt64(bitPattern: population) &* 31 &+ UInt64(name.utf8.count)
  }

  /// Adds a group of rows, in whatever order groups come.
  mutating func add(group: Int64, _ rows: Int64, _ sum: Int64, _ greatest: Int64) {
    count += 1
    let words = [group, rows, sum, greatest].map(UInt64.init(bitPattern:))
    checksum &+= (words[0] &+ 7) &* (words[1] &* 3 &+ words[2] &* 5 &+ words[3] &* 11)
  }
}

/// Bounds of latitude and longitude, in degrees.
struct GazetteerBox {
  let south: Double
  let north: Double
  let west: Double
  let east: Double

  /// Boxes of one to four degrees around cities of the data.
  static func boxes(_ count: Int, in data: GazetteerData) -> [GazetteerBox] {
    var random = SplitMix(seed: 11)
    return (0..<count).map { _ in
      let city = data.cities[random.below(data.cities.count)]
      let (height, width) = (0.5 + random.unit() * 1.5, 0.5 + random.unit() * 1.5)
      return GazetteerBox(
        south: city.latitude - height, north: city.latitude + height,
        west: city.longitude - width, east: city.longitude + width)
    }
  }
}

/// The operations that are compared, over one file each.
protocol GazetteerRival {
  /// Fills an empty file in durable batches.
  func load(_ data: GazetteerData, batch: Int) throws
  /// Bytes of the file once it is closed; it is open again when this returns.
  func size() throws -> Int
  /// Bytes of a copy without free pages, which is removed again.
  func compactedSize() throws -> Int
  /// Gives the space that the file does not need back.
  func compact() throws
  func count(in boxes: [GazetteerBox]) throws -> GazetteerAnswer
  /// Name and population of every city in a box.
  func fetch(in boxes: [GazetteerBox]) throws -> GazetteerAnswer
  /// For each country the number of cities, the sum of populations and the greatest elevation.
  func group() throws -> GazetteerAnswer
  func sum() throws -> GazetteerAnswer
  /// Cities that lie high, by a scan of all.
  func scan() throws -> GazetteerAnswer
  /// Cities whose country has more than three of more than 200,000 people.
  func amongLarge() throws -> GazetteerAnswer
  /// How many have a text in their ASCII names, whatever its case.
  func contains(_ text: String) throws -> GazetteerAnswer
  /// How many have a text in their names, whatever its case.
  func containsInName(_ text: String) throws -> GazetteerAnswer
  /// How many have each of some words among their other names.
  func match(_ words: [String]) throws -> GazetteerAnswer
  /// Deletes the cities whose IDs are at most `last`.
  func delete(upTo last: Int64) throws -> GazetteerAnswer
}
