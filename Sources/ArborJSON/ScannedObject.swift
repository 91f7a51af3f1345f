internal import ArborLocks

/// An object of a document that is read when somebody asks for its members.
///
/// A hook is told of every item, and many look at none: their members are never made.
final class ScannedObject: Sendable {
  private enum State {
    case scanned(JSONNode)
    case read(JSONObject)
  }

  private let state: Lock<State>

  init(_ node: JSONNode) { state = Lock(.scanned(node)) }

  /// The object with its members. Lets go of the document.
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
  /// Tells a closure the value with all its parts, which are made only where it looks at them.
  ///
  /// A closure that keeps the value keeps its parts, and not the document.
  ///
  /// - Returns: What the closure returns.
  package func tell(_ body: (JSONValue) -> Bool) -> Bool {
    guard kind == .object else { return body(value) }
    var scanned = ScannedObject(self)
    let result = body(.object(JSONObject(scanned)))
    if !isKnownUniquelyReferenced(&scanned) { _ = scanned.object }
    return result
  }
}
