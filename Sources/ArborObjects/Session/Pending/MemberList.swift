internal import ArborModel

/// A list of object numbers without duplicates, in insertion order.
///
/// Most lists of pending links are short, but some contain a hundred thousand numbers. Short lists
/// are searched linearly, longer ones are indexed. Removing a number leaves a gap until half of the
/// slots are gaps, so that removing from the middle of a long list doesn't move elements.
struct MemberList {
  private var slots: [ObjectNumber] = []
  private var indexes: NumberMap?
  private(set) var count = 0

  private static let gap = ObjectNumber(rawValue: 0)
  private static let linearCount = 12

  init(_ numbers: [ObjectNumber] = []) {
    slots = numbers
    count = numbers.count
    if count > Self.linearCount { makeIndex() }
  }

  var isEmpty: Bool { count == 0 }

  var numbers: [ObjectNumber] {
    slots.count == count ? slots : slots.filter { $0 != Self.gap }
  }

  func contains(_ number: ObjectNumber) -> Bool { index(of: number) != nil }

  @discardableResult
  mutating func append(_ number: ObjectNumber) -> Bool {
    guard index(of: number) == nil else { return false }
    indexes?.set(number, UInt(bitPattern: slots.count))
    slots.append(number)
    count += 1
    if indexes == nil, slots.count > Self.linearCount { makeIndex() }
    return true
  }

  @discardableResult
  mutating func remove(_ number: ObjectNumber) -> Bool {
    guard let index = index(of: number) else { return false }
    indexes?.remove(number)
    slots[index] = Self.gap
    count -= 1
    if slots.count > Self.linearCount, slots.count > 2 * count {
      slots.removeAll { $0 == Self.gap }
      indexes = nil
      if count > Self.linearCount { makeIndex() }
    }
    return true
  }

  private func index(of number: ObjectNumber) -> Int? {
    if let indexes { return indexes[number].map(Int.init(bitPattern:)) }
    return slots.firstIndex(of: number)
  }

  private mutating func makeIndex() {
    let map = NumberMap(minimumCapacity: slots.count)
    for (index, number) in slots.enumerated() where number != Self.gap {
      map.set(number, UInt(bitPattern: index))
    }
    indexes = map
  }

  /// An independent copy, for savepoints.
  var copy: MemberList { MemberList(numbers) }
}
