import ArborModel

extension JSONNode {
  /// The value of an object's member; nil where there is none or this is no object.
  func member(named name: String) -> JSONNode? {
    members?.first { $0.key == name }?.value
  }

  /// An element of a list; nil beyond its ends or where this is no list.
  func element(at place: Int) -> JSONNode? {
    guard let elements, elements.indices.contains(place) else { return nil }
    return elements[place]
  }
}
