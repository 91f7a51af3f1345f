import TestSupport

/// A source of random choices for one world that is reproducible from its seed.
final class Dice {
  let seed: UInt64
  private var random: SeededRandom

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
  }

  func next() -> UInt64 { random.next() }

  func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  func chance(_ percent: Int) -> Bool { int(0...99) < percent }

  /// Returns an element of a non-empty array.
  func one<T>(_ elements: [T]) -> T { elements[int(0...(elements.count - 1))] }

  func some<T>(_ elements: [T]) -> T? { elements.isEmpty ? nil : one(elements) }

  /// Returns up to `most` distinct elements in random order.
  func few<T>(_ elements: [T], upTo most: Int) -> [T] {
    var rest = elements
    var chosen: [T] = []
    for _ in 0..<int(0...most) where !rest.isEmpty {
      chosen.append(rest.remove(at: int(0...(rest.count - 1))))
    }
    return chosen
  }
}
