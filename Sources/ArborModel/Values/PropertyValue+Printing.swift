internal import Foundation

extension PropertyValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value as a person reads it: `Ada`, `41`, `2026-01-31T12:00:00Z`, `12 bytes`, `nil`,
  /// `[1, 2]`, `[city: Bonn]`.
  ///
  /// It holds the user's data, as the value does. Texts are not quoted and no reader takes it back;
  /// ``debugDescription`` tells the kinds apart.
  public var description: String {
    switch self {
    case .null: "nil"
    case .boolean(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .decimal(let number): "\(number)"
    case .string(let text): text
    case .date(let date): ISO8601Date.seconds(date)
    case .binary(let data): data.count == 1 ? "1 byte" : "\(data.count) bytes"
    case .uuid(let uuid): uuid.uuidString
    case .uri(let url): url.absoluteString
    case .objectID(let id): id.description
    case .list(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .composite(let parts): Self.text(of: parts, \.description)
    }
  }

  /// The value with its kind, as it is written in code: `.string("Ada")`, `.integer(41)`,
  /// `.list([.null])`. Bytes are told by their number.
  public var debugDescription: String {
    switch self {
    case .null: ".null"
    case .boolean(let flag): ".boolean(\(flag))"
    case .integer(let number): ".integer(\(number))"
    case .double(let number): ".double(\(number))"
    case .decimal(let number): ".decimal(\(number))"
    case .string(let text): ".string(\(text.debugDescription))"
    case .date(let date): ".date(\(ISO8601Date.seconds(date)))"
    case .binary: ".binary(\(description))"
    case .uuid(let uuid): ".uuid(\(uuid.uuidString))"
    case .uri(let url): ".uri(\(url.absoluteString))"
    case .objectID(let id): ".objectID(\(id))"
    case .list(let values): ".list([\(values.map(\.debugDescription).joined(separator: ", "))])"
    case .composite(let parts): ".composite(\(Self.text(of: parts, \.debugDescription)))"
    }
  }

  private static func text(of parts: [String: PropertyValue], _ text: (PropertyValue) -> String)
    -> String
  {
    let members = parts.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
    return members.isEmpty ? "[:]" : "[\(members.joined(separator: ", "))]"
  }
}
