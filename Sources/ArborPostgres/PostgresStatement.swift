internal import Foundation

/// A statement with its parameter values.
///
/// Its text is prepared once per connection, so texts should be constants.
struct PostgresStatement: Sendable {
  let text: String
  let values: [PostgresValue]

  init(_ text: String, _ values: PostgresValue...) {
    self.text = text
    self.values = values
  }
}

/// A parameter value of a statement, sent in the binary format of its type.
enum PostgresValue: Sendable {
  case integer(Int64)
  case uuid(UUID)
  case text(String)
  case bytes([UInt8])

  /// The type's OID, which is the same on every server.
  var type: UInt32 {
    switch self {
    case .bytes: 17
    case .integer: 20
    case .text: 25
    case .uuid: 2950
    }
  }

  func append(to buffer: inout [UInt8]) {
    switch self {
    case .bytes(let bytes): buffer += bytes
    case .integer(let number):
      for shift in stride(from: 56, through: 0, by: -8) {
        buffer.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    case .text(let text): buffer += text.utf8
    case .uuid(let uuid):
      let id = uuid.uuid
      buffer += [id.0, id.1, id.2, id.3, id.4, id.5, id.6, id.7]
      buffer += [id.8, id.9, id.10, id.11, id.12, id.13, id.14, id.15]
    }
  }
}
