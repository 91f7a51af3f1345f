import ArborJSON
import ArborModel

extension JSONNode {
  /// An element of a list; nil beyond its ends or where this is no list. Linear in the place.
  func element(at index: Int) -> JSONNode? {
    guard index >= 0, index < count, kind == .array else { return nil }
    return items.dropFirst(index).first
  }
}
