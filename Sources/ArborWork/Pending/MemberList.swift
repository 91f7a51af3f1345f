package import ArborModel

/// A list of object numbers without duplicates, in the order they were added.
///
/// Most lists of pending links are short, some hold a hundred thousand: up to a few numbers are
/// searched one by one, more are indexed. A removed number leaves a gap until half are gaps, so
/// that removing from the middle of a long list moves nothing.
package struct MemberList {
  private var places: [ObjectNumber] = []
  private var index: NumberMap?
  package private(set) var count = 0

  private static let gap = ObjectNumber(rawValue: 0)
  private static let linearCount = 12

  package init() {}

  package init(_ numbers: [ObjectNumber]) {
    places = numbers
    count = numbers.count
    if count > Self.linearCount { makeIndex() }
  }

  package var isEmpty: Bool { count == 0 }

  /// The numbers in order.
  package var numbers: [ObjectNumber] {
    places.count == count ? places : places.filter { $0 != Self.gap }
  }

  package func contains(_ number: ObjectNumber) -> Bool { place(of: number) != nil }

  /// Adds a number at the end; returns whether it was not there.
  @discardableResult
  package mutating func append(_ number: ObjectNumber) -> Bool {
    guard place(of: number) == nil else { return false }
    index?.set(number, UInt(bitPattern: places.count))
    places.append(number)
    count += 1
    if index == nil, places.count > Self.linearCount { makeIndex() }
    return true
  }

  /// Removes a number; returns whether it was there.
  @discardableResult
  package mutating func remove(_ number: ObjectNumber) -> Bool {
    guard let place = place(of: number) else { return false }
    index?.remove(number)
    places[place] = Self.gap
    count -= 1
    if places.count > Self.linearCount, places.count > 2 * count {
      places.removeAll { $0 == Self.gap }
      index = nil
      if count > Self.linearCount { makeIndex() }
    }
    return true
  }

  private func place(of number: ObjectNumber) -> Int? {
    if let index { return index[number].map(Int.init(bitPattern:)) }
    return places.firstIndex(of: number)
  }

  private mutating func makeIndex() {
    let index = NumberMap(minimumCapacity: places.count)
    for (place, number) in places.enumerated() where number != Self.gap {
      index.set(number, UInt(bitPattern: place))
    }
    self.index = index
  }

  /// A list that shares nothing with this one, for savepoints.
  package var copy: MemberList { MemberList(numbers) }
}
