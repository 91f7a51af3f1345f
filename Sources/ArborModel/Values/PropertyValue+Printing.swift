internal import ArborFoundation

extension PropertyValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value in human-readable form: `Ada`, `41`, `2026-01-31T12:00:00Z`, `12 bytes`, `nil`,
  /// `[1, 2]`, `[city: Bonn]`.
  ///
  /// Contains user data. Strings are not quoted, and the text cannot be parsed back;
  /// ``debugDescription`` distinguishes the kinds. Lists and composites that contain more than 128
  /// levels of others end in `…`.
  public var description: String { description(levels: 128) }

  private func description(levels: Int) -> String {
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
    case .list where levels == 0, .composite where levels == 0: "…"
    case .list(let values):
      "[\(values.map { $0.description(levels: levels - 1) }.joined(separator: ", "))]"
    case .composite(let parts): Self.text(of: parts) { $0.description(levels: levels - 1) }
    }
  }

  /// The value with its kind, as in source code: `.string("Ada")`, `.integer(41)`,
  /// `.list([.null])`. Binary values show only their size.
  public var debugDescription: String { debugDescription(levels: 128) }

  private func debugDescription(levels: Int) -> String {
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
    case .list where levels == 0, .composite where levels == 0: "…"
    case .list(let values):
      ".list([\(values.map { $0.debugDescription(levels: levels - 1) }.joined(separator: ", "))])"
    case .composite(let parts):
      ".composite(\(Self.text(of: parts) { $0.debugDescription(levels: levels - 1) }))"
    }
  }

  private static func text(of parts: [String: PropertyValue], _ text: (PropertyValue) -> String)
    -> String
  {
    let members = parts.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
    return members.isEmpty ? "[:]" : "[\(members.joined(separator: ", "))]"
  }
}
