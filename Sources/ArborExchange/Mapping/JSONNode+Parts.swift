import ArborModel

extension JSONNode {
  /// An element of a list; nil beyond its ends or where this is no list. Linear in the place.
  func element(at place: Int) -> JSONNode? {
    guard place >= 0, place < count, kind == .array else { return nil }
    return items.dropFirst(place).first
  }
}
