internal import ArborLocks

/// An object of a document whose members are decoded on first access.
///
/// A hook is called for every item, and many hooks don't read the members, which are then never
/// decoded.
final class ScannedObject: Sendable {
  private enum State {
    case scanned(JSONNode)
    case read(JSONObject)
  }

  private let state: Lock<State>

  init(_ node: JSONNode) { state = Lock(.scanned(node)) }

  /// The object with its members. The document is released on first access.
  var object: JSONObject {
    state.withLock { state in
      switch state {
      case .read(let object): return object
      case .scanned(let node):
        let object = node.value.object ?? JSONObject()
        state = .read(object)
        return object
      }
    }
  }
}

extension JSONNode {
  /// Calls a closure with the value, whose members are decoded only on access.
  ///
  /// If the closure keeps the value, the value keeps its members but not the document.
  ///
  /// - Returns: The result of the closure.
  package func tell(_ body: (JSONValue) -> Bool) -> Bool {
    guard kind == .object else { return body(value) }
    var scanned = ScannedObject(self)
    let result = body(.object(JSONObject(scanned)))
    if !isKnownUniquelyReferenced(&scanned) { _ = scanned.object }
    return result
  }
}
