import Foundation

/// The result of one implementation: the number of rows, and a checksum that identifies them.
struct GazetteerAnswer: Equatable {
  var count = 0
  var checksum: UInt64 = 0

  mutating func add(_ name: String, _ population: Int64) {
    count += 1
    checksum &+= UInt64(bitPattern: population) &* 31 &+ UInt64(name.utf8.count)
  }

  /// Adds a group of rows. The order of groups doesn't affect the checksum.
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

  /// Returns boxes of one to four degrees around cities of the data.
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

/// The operations that are compared, each implementation with its own file.
protocol GazetteerRival {
  /// Fills an empty file in durable batches.
  func load(_ data: GazetteerData, batch: Int) throws
  /// Returns the size of the closed file in bytes, and reopens it.
  func size() throws -> Int
  /// Returns the size in bytes of a temporary copy without free pages.
  func compactedSize() throws -> Int
  /// Releases the file's free space.
  func compact() throws
  func count(in boxes: [GazetteerBox]) throws -> GazetteerAnswer
  /// Reads the name and population of every city in a box.
  func fetch(in boxes: [GazetteerBox]) throws -> GazetteerAnswer
  /// Computes the number of cities, the total population and the maximum elevation per country.
  func group() throws -> GazetteerAnswer
  func sum() throws -> GazetteerAnswer
  /// Finds cities at high elevations with a full scan.
  func scan() throws -> GazetteerAnswer
  /// Finds cities whose country has more than three cities of more than 200,000 people.
  func amongLarge() throws -> GazetteerAnswer
  /// Counts cities whose ASCII names contain a string, ignoring case.
  func contains(_ text: String) throws -> GazetteerAnswer
  /// Counts cities whose names contain a string, ignoring case.
  func containsInName(_ text: String) throws -> GazetteerAnswer
  /// Counts cities for each of several words in their alternate names.
  func match(_ words: [String]) throws -> GazetteerAnswer
  /// Deletes the cities whose IDs are at most `last`.
  func delete(upTo last: Int64) throws -> GazetteerAnswer
}
